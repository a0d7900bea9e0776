// Package architecture tests what docs/architecture.md says of who imports whom.
package architecture

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
)

// module is the path that the names of our packages begin with.
const module = "iwda"

// root is the repository's folder.
var root = filepath.Join("..", "..")

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	CgoFiles     []string
	Standard     bool
}

// name is the package's folder in the repository.
func (p goPackage) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// list runs go list in the repository's root.
func list(t *testing.T, environment []string, arguments ...string) []goPackage {
	t.Helper()
	text := goCommand(t, root, environment, append([]string{"list", "-json=ImportPath,Imports,TestImports,XTestImports,CgoFiles,Standard"}, arguments...)...)
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// layers are the folders in the list at the start of docs/architecture.md, the
// uppermost first.
func layers(t *testing.T) []string {
	t.Helper()
	file := must.Have(os.Open(filepath.Join(root, "docs", "architecture.md")))(t)
	defer file.Close()
	var folders []string
	inside := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		switch fence := lines.Text() == "```"; {
		case fence && inside:
			return folders
		case fence:
			inside = true
		case inside:
			folder, _, _ := strings.Cut(lines.Text(), " ")
			folders = append(folders, strings.TrimSuffix(folder, "/"))
		}
	}
	t.Fatal("no list of folders in docs/architecture.md")
	return nil
}

// layerOf is the number of the innermost folder that holds the package, -1 where none
// does.
func layerOf(name string, folders []string) int {
	layer := -1
	for i, folder := range folders {
		inside := name == folder || strings.HasPrefix(name, folder+"/")
		if inside && (layer < 0 || len(folder) > len(folders[layer])) {
			layer = i
		}
	}
	return layer
}

// upward returns the imports between packages that the list forbids, and the packages
// that it lacks.
func upward(packages []goPackage, folders []string) []string {
	var wrong []string
	for _, p := range packages {
		from := layerOf(p.name(), folders)
		if from < 0 {
			wrong = append(wrong, p.name()+" is in no folder of the list")
			continue
		}
		for _, imported := range p.Imports {
			name, ours := strings.CutPrefix(imported, module+"/")
			if to := layerOf(name, folders); ours && to >= 0 && to < from {
				wrong = append(wrong, p.name()+" imports "+name+", which stands above it")
			}
		}
	}
	return wrong
}

func TestImportsPointDown(t *testing.T) {
	for _, wrong := range upward(list(t, nil, "./..."), layers(t)) {
		t.Error("docs/architecture.md: " + wrong)
	}
}

func TestUpward(t *testing.T) {
	folders := []string{"cmd", "datasets/images", "datasets", "internal"}
	packages := []goPackage{
		{ImportPath: "iwda/cmd/iwrun", Imports: []string{"fmt", "iwda/datasets/images"}},
		{ImportPath: "iwda/datasets/images", Imports: []string{"iwda/datasets", "iwda/datasets/images/webp"}},
		{ImportPath: "iwda/datasets/images/webp"},
		{ImportPath: "iwda/datasets/table", Imports: []string{"iwda/internal/x", "iwda/datasets/images"}},
		{ImportPath: "iwda/other"},
	}
	want := []string{"datasets/table imports datasets/images, which stands above it", "other is in no folder of the list"}
	if got := upward(packages, folders); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestResearchIsNotNeeded: neither a package of the product nor its tests import research.
func TestResearchIsNotNeeded(t *testing.T) {
	const research = "research"
	for _, p := range list(t, nil, "./...") {
		if in, _, _ := strings.Cut(p.name(), "/"); in == research {
			continue
		}
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if strings.HasPrefix(imported, module+"/"+research+"/") {
				t.Errorf("%s imports %s", p.name(), imported)
			}
		}
	}
}

// TestDoorToLibtorch: only torch and nets import gotorch, and only torch contains cgo.
func TestDoorToLibtorch(t *testing.T) {
	const gotorch = "github.com/wangkuiyi/gotorch"
	for _, p := range list(t, nil, "./...") {
		imports := slices.ContainsFunc(p.Imports, func(path string) bool { return path == gotorch || strings.HasPrefix(path, gotorch+"/") })
		if in, _, _ := strings.Cut(p.name(), "/"); imports && in != "torch" && in != "nets" {
			t.Errorf("%s imports gotorch", p.name())
		}
		if len(p.CgoFiles) > 0 && p.name() != "torch" {
			t.Errorf("%s contains cgo", p.name())
		}
	}
}

// TestWithoutCgo: iwrun, and what else needs no libtorch, is whole without a C++ compiler.
func TestWithoutCgo(t *testing.T) {
	for _, cgo := range []string{"CGO_ENABLED=0", "CGO_ENABLED=1"} {
		for _, p := range list(t, []string{cgo}, append([]string{"-deps"}, withoutLibtorch...)...) {
			if slices.Contains([]string{"torch", "losses", "nets", "experiments/train", "experiments/network"}, p.name()) {
				t.Errorf("%q need %s", withoutLibtorch, p.name())
			}
			if len(p.CgoFiles) > 0 && !p.Standard {
				t.Errorf("%q need %s, which contains cgo", withoutLibtorch, p.ImportPath)
			}
		}
	}
}
