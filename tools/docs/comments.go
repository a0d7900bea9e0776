package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"iwda/experiments/config"
)

// keyComments returns what the schema of an experiment file says of each key, by the path
// of the key.
func keyComments(root string) (map[string]string, error) {
	s := schema{root: root, files: token.NewFileSet(), comments: map[string]string{}}
	return s.comments, s.add("", "experiments/config", "document")
}

// schema follows the types of a schema through the packages that declare them.
type schema struct {
	root     string
	files    *token.FileSet
	comments map[string]string
}

// add reads the comments of the fields of a type, which stands at path in a file.
func (s schema) add(path, folder, name string) error {
	declared, imports, err := s.declared(folder, name)
	if err != nil {
		return err
	}
	structure, is := declared.(*ast.StructType)
	if list, named := declared.(*ast.ArrayType); named { // values by names that the user gives
		return s.follow(path+"."+config.AnyName, folder, imports, list.Elt)
	}
	if !is {
		return nil
	}
	for _, field := range structure.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			return err
		}
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("yaml"), ",")
		at := strings.TrimPrefix(path+"."+key, ".")
		if options == "inline" {
			at = path
		} else if len(field.Names) == 1 {
			s.comments[at] = sentence(field.Names[0].Name, field.Doc.Text())
		}
		if err := s.follow(at, folder, imports, field.Type); err != nil {
			return err
		}
	}
	return nil
}

// follow adds the type that an expression names, if it names one of ours.
func (s schema) follow(path, folder string, imports map[string]string, expression ast.Expr) error {
	switch t := expression.(type) {
	case *ast.Ident:
		return s.add(path, folder, t.Name)
	case *ast.SelectorExpr:
		if pkg, is := t.X.(*ast.Ident); is && imports[pkg.Name] != "" {
			return s.add(path, imports[pkg.Name], t.Sel.Name)
		}
	}
	return nil
}

// declared finds what a folder declares a type as, nil if it declares none of the name, and the
// folders of our packages that its file imports.
func (s schema) declared(folder, name string) (ast.Expr, map[string]string, error) {
	paths, _ := filepath.Glob(filepath.Join(s.root, folder, "*.go")) // the pattern is right
	if len(paths) == 0 {
		return nil, nil, fmt.Errorf("%s: no Go files", folder)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(s.files, path, nil, parser.ParseComments)
		if err != nil {
			return nil, nil, err
		}
		if object := file.Scope.Lookup(name); object != nil {
			if spec, is := object.Decl.(*ast.TypeSpec); is {
				return spec.Type, imported(file), nil
			}
		}
	}
	return nil, nil, nil
}

func imported(file *ast.File) map[string]string {
	folders := map[string]string{}
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if folder, ours := strings.CutPrefix(path, "iwda/"); ours {
			folders[filepath.Base(path)] = folder
		}
	}
	return folders
}

// sentence is the comment of a field in a line. The name of the field, with which it begins,
// becomes that of the key, or goes if "is" or "are" follows.
func sentence(field, comment string) string {
	text := strings.Join(strings.Fields(comment), " ")
	rest, begins := strings.CutPrefix(text, field+" ")
	if !begins {
		return text
	}
	for _, verb := range []string{"is ", "are "} {
		if what, is := strings.CutPrefix(rest, verb); is {
			return strings.ToUpper(what[:1]) + what[1:]
		}
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}
