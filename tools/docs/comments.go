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
	fields, imports, err := s.structure(folder, name)
	if err != nil || fields == nil {
		return err
	}
	for _, field := range fields.List {
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
		switch t := field.Type.(type) {
		case *ast.Ident:
			err = s.add(at, folder, t.Name)
		case *ast.SelectorExpr:
			if pkg, is := t.X.(*ast.Ident); is {
				err = s.add(at, imports[pkg.Name], t.Sel.Name)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// structure finds the fields of a struct, nil if the name is none of the folder, and the
// folders of our packages that its file imports.
func (s schema) structure(folder, name string) (*ast.FieldList, map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(s.root, folder, "*.go"))
	if err != nil || len(paths) == 0 {
		return nil, nil, fmt.Errorf("%s: no Go files: %w", folder, err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(s.files, path, nil, parser.ParseComments)
		if err != nil {
			return nil, nil, err
		}
		object := file.Scope.Lookup(name)
		if object == nil {
			continue
		}
		spec, is := object.Decl.(*ast.TypeSpec)
		if !is {
			return nil, nil, nil
		}
		if structure, is := spec.Type.(*ast.StructType); is {
			return structure.Fields, imported(file), nil
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
