package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
)

// opensWithoutAsking are the functions that open whatever stands under a name.
var opensWithoutAsking = map[string][]string{
	"os":     {"Open", "ReadFile", "OpenInRoot", "OpenRoot", "DirFS"},
	"ioutil": {"ReadFile"},
}

// opensOtherThings are the files that open what is not read: folders, which are flushed and locked.
var opensOtherThings = map[string]bool{"internal/system/files_unix.go": true, "internal/system/files_windows.go": true}

// TestOneDoorToFiles: what the product reads it opens through internal/input, which
// refuses pipes, devices and endless files.
func TestOneDoorToFiles(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, _ := filepath.Rel(root, path)
		switch name := filepath.ToSlash(relative); {
		case entry.IsDir() && (name == "build" || name == "research" || name == "internal/input" || strings.HasPrefix(entry.Name(), ".") && name != "."):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || opensOtherThings[name]:
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for _, call := range uses(file, opensWithoutAsking) {
			t.Errorf("%s calls %s; internal/input opens files that are read", set.Position(call.Pos()), call.Sel.Name)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestUses(t *testing.T) {
	const text = `package p; import "os"; var open = os.Open; func f() { os.Stat(""); g(os.ReadFile); x.Open(); os.OpenFile("", 0, 0) }`
	file := must.Have(parser.ParseFile(token.NewFileSet(), "", text, 0))(t)
	if found := uses(file, opensWithoutAsking); len(found) != 2 {
		t.Errorf("found %v, want two", found)
	}
}

// uses returns where a file names one of the functions, by package.
func uses(file *ast.File, functions map[string][]string) (found []*ast.SelectorExpr) {
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if in, ok := selector.X.(*ast.Ident); ok && slices.Contains(functions[in.Name], selector.Sel.Name) {
				found = append(found, selector)
			}
		}
		return true
	})
	return found
}
