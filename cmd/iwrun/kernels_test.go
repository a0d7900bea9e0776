package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"iwda/torch"
)

// The program takes the kernels that somebody names, and no old ones where nobody does.
func TestKernelsOfTheProgram(t *testing.T) {
	kernels := func(named string) string {
		command := exec.Command(os.Args[0], "doctor")
		command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, kernelsVariable+"=") })
		command.Env = append(command.Env, asProgram+"=yes")
		if named != "" {
			command.Env = append(command.Env, kernelsVariable+"="+named)
		}
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if name, ok := strings.CutPrefix(line, "kernels "); ok {
				return strings.TrimSpace(name)
			}
		}
		return ""
	}
	own := torch.BLASKernels() // those that the test's program took, if BLAS is OpenBLAS
	if got := kernels(""); got != own || torch.BetterBLASKernels() != "" {
		t.Errorf("not named: %q, in the test %q", got, own)
	}
	if got := kernels("Nehalem"); own != "" && cpu.X86.HasSSE42 && got != "Nehalem" {
		t.Errorf("named: %q", got)
	}
}

// Kernels that the program chose for its own processor do not reach other machines; those that
// somebody named do.
func TestKernelsElsewhere(t *testing.T) {
	kernels := func() (named []string) {
		for _, entry := range environmentElsewhere() {
			if strings.HasPrefix(entry, kernelsVariable+"=") || strings.HasPrefix(entry, ownKernelsVariable+"=") {
				named = append(named, entry)
			}
		}
		return named
	}
	t.Setenv(kernelsVariable, "Haswell")
	t.Setenv(ownKernelsVariable, "yes")
	if got := kernels(); len(got) > 0 {
		t.Errorf("its own: %v", got)
	}
	os.Unsetenv(ownKernelsVariable)
	if got := kernels(); !slices.Equal(got, []string{kernelsVariable + "=Haswell"}) {
		t.Errorf("somebody's: %v", got)
	}
}
