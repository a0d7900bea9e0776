package dist

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// Whatever the folders of libtorch and of the sources are called, the compiler gets them as they are,
// and nothing in their names is carried out.
func TestFoldersOfAnyName(t *testing.T) {
	scripts, err := filepath.Glob("../*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, name := range []string{"plain", "it's two  blanks", "$(touch ran)`touch ran`", `"$HOME"; touch ran #`, "a'; touch ran; 'b", "commas, & * ?"} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			here := filepath.Join(root, name)
			for _, script := range scripts {
				text := testfiles.Read(t, script)
				write(t, filepath.Join(here, "tools", filepath.Base(script)), string(text))
			}
			for _, source := range []string{"gotorch/gotorch.cc", "torch/csrc/convolution.cc", "torch/csrc/graph.cc", "torch/csrc/tensor.cc"} {
				write(t, filepath.Join(here, source), "")
			}
			libtorch, build, lib := filepath.Join(here, "libtorch"), filepath.Join(here, "build"), filepath.Join(here, "build", "lib")
			testfiles.MakeFolder(t, lib)
			write(t, filepath.Join(libtorch, "include", "torch", "version.h"), "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 1\n")
			write(t, filepath.Join(libtorch, "lib", "libtorch_cpu.so"), "")
			compile(t, "int c105ErrorC1ENSt7__cxx11(void) { return 0; }", filepath.Join(libtorch, "lib", "libc10.so"), "-shared", "-fPIC")
			arguments := filepath.Join(root, "arguments")
			write(t, filepath.Join(here, "c++"), "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\"$ARGUMENTS\"\n")
			sh := func(words ...string) string {
				command := exec.Command("sh", words...)
				command.Dir, command.Env = here, append(os.Environ(), "LIBTORCH="+libtorch, "CXX="+filepath.Join(here, "c++"), "ARGUMENTS="+arguments)
				said, err := command.CombinedOutput()
				if err != nil {
					t.Fatalf("%q: %v\n%s", words, err, said)
				}
				return string(said)
			}
			sh("tools/find-libtorch.sh", filepath.Join(build, "libtorch.env"))
			sh("tools/compile.sh", build, lib)
			text := testfiles.Read(t, arguments)
			words := strings.Split(string(text), "\n")
			for _, want := range []string{
				filepath.Join(libtorch, "include"), "-L" + filepath.Join(libtorch, "lib"), filepath.Join(libtorch, "lib"),
				filepath.Join(build, "shim.o"), filepath.Join(lib, "libiwtorch.so"),
			} {
				if !slices.Contains(words, want) {
					t.Errorf("the compiler did not get %s; it got\n%s", want, text)
				}
			}
			quote := "'"
			if strings.Contains(name, quote) {
				quote = `"`
			}
			if flags := sh("tools/go-flags.sh", "build/lib"); !strings.Contains(flags, quote+"-L"+lib+quote) || !strings.Contains(flags, quote+"-L"+filepath.Join(libtorch, "lib")+quote) {
				t.Errorf("for go: %s", flags)
			}
			err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
				if filepath.Base(path) == "ran" {
					err = errors.New("a name was carried out")
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
