package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/testfiles"
)

// A checkpoint that was set aside is found in a folder of any name.
func TestSetAsideInAnyFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out[1]")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(folder, "checkpoint.safetensors.damaged-1")
	for _, path := range []string{filepath.Join(folder, store.ConfigFile), aside} {
		testfiles.Write(t, path, "x")
	}
	report, err := Folder(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Path == aside && strings.Contains(f.What, "set aside") {
			return
		}
	}
	t.Errorf("%+v", report.Findings)
}
