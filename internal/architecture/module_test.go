package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// withoutLibtorch are iwrun, and the packages that another program can use without libtorch.
var withoutLibtorch = []string{
	"./cmd/iwrun",
	"./weightest/...", "./inference/monitor", "./inference/evaluation", "./inference/sets", "./inference/floor", "./inference/selection/...", "./learners/...", "./datasets/...",
}

// noCompiler is an environment without cgo, a C compiler or libraries, and without a
// network to get modules from.
var noCompiler = []string{"CGO_ENABLED=0", "CC=false", "CXX=false", "CGO_LDFLAGS=", "GOPROXY=off"}

// goCommand runs the go command in a folder and returns what it prints.
func goCommand(t *testing.T, folder string, environment []string, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), environment...)
	var said strings.Builder
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, &said)
	}
	return string(out)
}

// TestWithoutCompiler: what needs no libtorch builds where there is no C++.
func TestWithoutCompiler(t *testing.T) {
	goCommand(t, root, noCompiler, append([]string{"build"}, withoutLibtorch...)...)
}

// TestMakeIwrun: the first step of make iwrun needs nothing that make build has left.
func TestMakeIwrun(t *testing.T) {
	checkout := must.Have(filepath.Abs(root))(t)
	entries := must.Have(os.ReadDir(checkout))(t)
	folder := t.TempDir()
	for _, entry := range entries {
		if name := entry.Name(); name != "build" && name != ".git" {
			must.Do(t, os.Symlink(filepath.Join(checkout, name), filepath.Join(folder, name)))
		}
	}
	command := exec.Command("make", "build/modules")
	command.Dir = folder
	if said, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestProgramOfThePage builds the program of docs/architecture.md in a module of its own, as its user has
// one, and compares what it prints with what it says that it prints.
func TestProgramOfThePage(t *testing.T) {
	page := testfiles.Read(t, filepath.Join(root, "docs", "architecture.md"))
	program := regexp.MustCompile("(?s)\n```go\n(.*?)```\n").FindSubmatch(page)
	output := regexp.MustCompile("// Output: (.*)\n").FindSubmatch(page)
	if program == nil || output == nil {
		t.Fatal("docs/architecture.md holds no Go program with its output")
	}
	checkout := must.Have(filepath.Abs(root))(t)
	sums := testfiles.Read(t, filepath.Join(root, "go.sum"))
	folder := t.TempDir()
	for name, text := range map[string]string{
		"main.go": string(program[1]), "go.sum": string(sums),
		"go.mod": "module example\n\ngo 1.26\n\nrequire iwda v0.0.0\n\nreplace iwda => " + checkout + "\n",
	} {
		testfiles.Write(t, filepath.Join(folder, name), text)
	}
	if printed := goCommand(t, folder, append(noCompiler, "GOFLAGS=-mod=mod"), "run", "."); printed != string(output[1])+"\n" {
		t.Errorf("docs/architecture.md's program prints %q, not %q", printed, output[1])
	}
}
