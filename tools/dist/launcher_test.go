// Package dist tests the launcher of a packed iwrun-torch.
package dist

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// compile compiles a C program or library.
func compile(t *testing.T, text, output string, options ...string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "source.c")
	write(t, source, text)
	command := exec.Command("cc", append([]string{source, "-o", output}, options...)...)
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, said)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	testfiles.MakeFolder(t, filepath.Dir(path))
	must.Do(t, os.WriteFile(path, []byte(text), 0o777))
}

// packed makes a folder as `make dist` does, of a program that needs the library of a
// libtorch 9.8 and prints its arguments; the library lies in another folder.
func packed(t *testing.T, library string) (folder, libtorch string) {
	t.Helper()
	folder, libtorch = t.TempDir(), t.TempDir()
	launcher := testfiles.Read(t, "iwrun-torch")
	write(t, filepath.Join(folder, "iwrun-torch"), string(launcher))
	write(t, filepath.Join(folder, "lib", "libtorch.env"), "libtorch_version='9.8'\nlibtorch_file='"+library+"'\nlibtorch_install='order one'\n")
	inner := filepath.Join(folder, "lib", "libinner.so")
	compile(t, "int inner(void) { return 0; }", inner, "-shared", "-fPIC", "-Wl,-soname,libinner.so")
	torch := filepath.Join(libtorch, "lib", library)
	write(t, torch, "")
	compile(t, "int torch(void) { return 0; }", torch, "-shared", "-fPIC", "-Wl,-soname,"+library)
	testfiles.MakeFolder(t, filepath.Join(folder, "bin"))
	compile(t, `#include <stdio.h>
int inner(void); int torch(void);
int main(int n, char **words) { for (int i = 1; i < n; i++) printf("<%s>", words[i]); return inner() + torch() + 7; }
`, filepath.Join(folder, "bin", "iwrun-torch"), inner, torch, "-Wl,-rpath,$ORIGIN/../lib")
	return folder, libtorch
}

// launch starts the launcher in another folder with those variables.
func launch(t *testing.T, folder string, environment ...string) (said string, status int) {
	t.Helper()
	command := exec.Command(filepath.Join(folder, "iwrun-torch"), "-c", "two words")
	command.Dir = t.TempDir()
	command.Env = append([]string{"PATH=" + os.Getenv("PATH")}, environment...)
	out, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// python returns a folder with a python3 that knows a torch in that folder.
func python(t *testing.T, torch string) string {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "python3"), "#!/bin/sh\necho '"+torch+"'\ntest '"+torch+"'\n")
	return "PATH=" + folder + ":" + os.Getenv("PATH")
}

func TestLauncher(t *testing.T) {
	const ran = "<-c><two words>"
	versioned, system := packed(t, "libtorch_cpu.so.9.8")
	plain, wheel := packed(t, "libtorch_cpu.so")
	other := t.TempDir()
	write(t, filepath.Join(other, "lib", "libtorch_cpu.so"), "")
	write(t, filepath.Join(other, "include", "torch", "csrc", "api", "include", "torch", "version.h"), "#define TORCH_VERSION_MAJOR 9\n#define TORCH_VERSION_MINOR 7\n#define TORCH_VERSION_PATCH 1\n")
	lacking, complete := packed(t, "libtorch_cpu.so.9.8")
	testfiles.Remove(t, filepath.Join(lacking, "lib", "libinner.so"))
	for name, test := range map[string]struct {
		folder      string
		environment []string
		status      int
		want        []string
	}{
		"found by the system": {versioned, []string{"LD_LIBRARY_PATH=" + filepath.Join(system, "lib")}, 7, []string{ran}},
		"named":               {versioned, []string{"LIBTORCH=" + system}, 7, []string{ran}},
		"not there":           {versioned, nil, 1, []string{"libtorch 9.8 is missing: this machine has no libtorch_cpu.so.9.8", "order one", "LIBTORCH"}},
		"named elsewhere":     {versioned, []string{"LIBTORCH=/nowhere"}, 1, []string{"$LIBTORCH (/nowhere) has no lib/libtorch_cpu.so.9.8"}},
		"a Python's":          {plain, []string{python(t, wheel)}, 7, []string{ran}},
		"a Python without":    {plain, []string{python(t, "")}, 1, []string{"libtorch 9.8 is missing: there is no python3 with a torch"}},
		"another version":     {plain, []string{"LIBTORCH=" + other}, 1, []string{"is version 9.7", "libtorch 9.8 is missing"}},
		"another library":     {lacking, []string{"LIBTORCH=" + complete}, 1, []string{"this machine lacks libinner.so, which iwrun-torch or libtorch 9.8 needs"}},
	} {
		t.Run(name, func(t *testing.T) {
			said, status := launch(t, test.folder, test.environment...)
			if status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not in\n%s", want, said)
				}
			}
		})
	}
	link := filepath.Join(t.TempDir(), "iwrun-torch")
	must.Do(t, os.Symlink(filepath.Join(versioned, "iwrun-torch"), link))
	if said, status := launch(t, filepath.Dir(link), "LIBTORCH="+system); status != 7 || said != ran {
		t.Errorf("by a link: status %d, %s", status, said)
	}
}
