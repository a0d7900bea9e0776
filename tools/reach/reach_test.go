//go:build reach

package reach

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// command returns a command of a system, without cgo, in the root of the repository.
func command(t *testing.T, system string, words ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), words[0], words[1:]...)
	c.Dir = "../.."
	os, processor, _ := strings.Cut(system, "/")
	c.Env = append(c.Environ(), "CGO_ENABLED=0", "GOOS="+os, "GOARCH="+processor)
	return c
}

// output returns the standard output of a command that must not fail.
func output(t *testing.T, c *exec.Cmd) []byte {
	t.Helper()
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", c, err, out, &said)
	}
	return out
}

// iwrun says everywhere what a package of that system lacks, before anything is linked.
func TestTypes(t *testing.T) {
	for _, system := range []string{"linux/amd64", "linux/arm64", "windows/amd64", "darwin/arm64"} {
		t.Run(system, func(t *testing.T) { check(t, system, "./cmd/iwrun") })
	}
}

// check has the packages type-checked, with all that they import.
func check(t *testing.T, system string, packages ...string) {
	_, processor, _ := strings.Cut(system, "/")
	known := importer{"unsafe": types.Unsafe}
	list := json.NewDecoder(bytes.NewReader(output(t, command(t, system, append([]string{"go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap"}, packages...)...))))
	own := 0
	for {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
			ImportMap       map[string]string
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		ours := strings.HasPrefix(p.ImportPath, "iwda/")
		files := token.NewFileSet()
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			file := must.Have(parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution))(t)
			parsed = append(parsed, file)
		}
		config := types.Config{
			Importer: renamed{known, p.ImportMap}, Sizes: types.SizesFor("gc", processor), IgnoreFuncBodies: !ours,
			Error: func(err error) {
				if ours {
					t.Error(err)
				}
			},
		}
		known[p.ImportPath], _ = config.Check(p.ImportPath, files, parsed, nil)
		if ours {
			own++
		}
	}
	if own < 2 {
		t.Errorf("%d packages of ours", own)
	}
}

// importer has the packages that were checked.
type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("no package " + path)
}

// renamed is an importer for a package whose imports may have other names.
type renamed struct {
	importer
	names map[string]string
}

func (r renamed) Import(path string) (*types.Package, error) {
	if name := r.names[path]; name != "" {
		path = name
	}
	return r.importer.Import(path)
}

// One file needs no other: no loader, no library, and as root it adapts a table in a folder that has nothing else.
func TestOneFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("for Linux")
	}
	folder := t.TempDir()
	output(t, command(t, "linux/"+runtime.GOARCH, "go", "build", "-o", folder+"/iwrun", "./cmd/iwrun"))
	program := must.Have(elf.Open(folder + "/iwrun"))(t)
	defer program.Close()
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			t.Errorf("iwrun is linked dynamically: it has a part %v", part.Type)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("not root, so that the folder cannot be made all there is")
	}
	writeDomains(t, folder)
	testfiles.MakeFolder(t, folder+"/tmp")
	output(t, exec.CommandContext(t.Context(), "chroot", folder, "/iwrun", "adapt", sourceName, targetName, "-o", "out"))
	predictions, err := os.ReadFile(folder + "/out/predictions.csv")
	if lines := bytes.Count(predictions, []byte("\n")); err != nil || lines != 301 {
		t.Errorf("%d lines: %v", lines, err)
	}
}

// wasip1 starts a program of WASI in Node, which is given its path.
const wasip1 = `
import { WASI } from 'node:wasi'
import { readFileSync } from 'node:fs'
const wasi = new WASI({ version: 'preview1', args: [process.argv[1]], env: process.env, preopens: { '/': '/' } })
wasi.start(await WebAssembly.instantiate(await WebAssembly.compile(readFileSync(process.argv[1])), { wasi_snapshot_preview1: wasi.wasiImport }))
`

// In WebAssembly the numbers are the same to 1e-6.
func TestWASM(t *testing.T) {
	folder := t.TempDir()
	writeDomains(t, folder)
	goroot := strings.TrimSpace(string(output(t, command(t, "linux/amd64", "go", "env", "GOROOT"))))
	programs := map[string]string{}
	for _, system := range []string{"js/wasm", "wasip1/wasm"} {
		programs[system] = filepath.Join(folder, strings.ReplaceAll(system, "/", "."))
		output(t, command(t, system, "go", "test", "-c", "-tags", "reach", "-o", programs[system], "./tools/reach"))
	}
	t.Chdir(folder)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as there
	want, seconds := must.Both(numbers())(t)
	native := map[string]float64{}
	for _, n := range want {
		native[n.name] = n.value
	}
	for system, program := range programs {
		words := []string{"--stack-size=8192", filepath.Join(goroot, "lib/wasm/wasm_exec_node.js"), program}
		if system != "js/wasm" {
			words = []string{"--stack-size=8192", "--no-warnings", "--input-type=module", "--eval", wasip1, program}
		}
		c := exec.CommandContext(t.Context(), "node", words...)
		c.Env = append(c.Environ(), "PWD="+folder)
		output(t, c)
		found := testfiles.Read(t, numbersName)
		lines := bufio.NewScanner(bytes.NewReader(found))
		lines.Scan()
		took := must.Have(strconv.ParseFloat(lines.Text(), 64))(t)
		t.Logf("%s: the bootstrap takes %.2f s, %.1f times as long as here", system, took, took/seconds)
		compared := 0
		for lines.Scan() {
			name, text, _ := strings.Cut(lines.Text(), "\t")
			value, err := strconv.ParseFloat(text, 64)
			here, known := native[name]
			if err != nil || !known || !(math.Abs(value-here) <= 1e-6*max(1, math.Abs(here))) {
				t.Errorf("%s: %s is %v, and %v here", system, name, text, here)
			}
			compared++
		}
		if compared != len(native) || compared < 7000 {
			t.Errorf("%s: %d numbers of %d", system, compared, len(native))
		}
	}
}
