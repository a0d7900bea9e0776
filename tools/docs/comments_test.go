package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"

	"iwda/experiments/config"
)

// keyComments returns what the schema of an experiment file says of each key, by the path
// of the key.
func keyComments(root string) (map[string]string, error) {
	s := schema{root: root, fields: map[string]map[string]string{}, comments: map[string]string{}}
	if err := s.add("", reflect.TypeFor[config.Config]()); err != nil {
		return nil, err
	}
	// A file has one key that a Config has not.
	s.comments["overrides"] = sentence("Overrides", s.fields["experiments/config"]["document.Overrides"])
	return s.comments, nil
}

// schema follows the types of a schema through the packages that declare them.
type schema struct {
	root     string
	fields   map[string]map[string]string // by folder, what fieldComments returns
	comments map[string]string
}

// add takes the comments of the fields of a type, which stands at path in a file.
func (s schema) add(path string, t reflect.Type) error {
	if t.Kind() == reflect.Slice && t.Name() != "" { // values by names that the user gives
		path, t = path+"."+config.AnyName, t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	folder := strings.TrimPrefix(t.PkgPath(), "iwda/")
	if s.fields[folder] == nil {
		fields, err := fieldComments(s.root, folder)
		if err != nil {
			return err
		}
		s.fields[folder] = fields
	}
	for i := range t.NumField() {
		field := t.Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		at := strings.TrimPrefix(path+"."+key, ".")
		if options == "inline" {
			at = path
		} else {
			s.comments[at] = sentence(field.Name, s.fields[folder][t.Name()+"."+field.Name])
		}
		if err := s.add(at, field.Type); err != nil {
			return err
		}
	}
	return nil
}

// fieldComments returns the comments of the fields of a folder's structs, by Type.Field.
func fieldComments(root, folder string) (map[string]string, error) {
	paths, _ := filepath.Glob(filepath.Join(root, folder, "*.go")) // the pattern is right
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no Go files", folder)
	}
	comments := map[string]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, is := node.(*ast.TypeSpec); is {
				if structure, is := spec.Type.(*ast.StructType); is {
					for _, field := range structure.Fields.List {
						for _, name := range field.Names {
							comments[spec.Name.Name+"."+name.Name] = field.Doc.Text()
						}
					}
				}
			}
			return true
		})
	}
	return comments, nil
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
