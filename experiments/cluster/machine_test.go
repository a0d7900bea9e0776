package cluster

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Tasks start the program that wrote their scripts, or the command of Python that started it.
func TestProgramOfTasks(t *testing.T) {
	this := must.Have(os.Executable())(t)
	for _, launcher := range []string{"", "/venv/bin/iwrun"} {
		t.Setenv("IWDA_LAUNCHER", launcher)
		var s Slurm
		if err := s.Here("results"); err != nil || s.Program != cmp.Or(launcher, this) {
			t.Errorf("started by %q: %s, %v", launcher, s.Program, err)
		}
	}
}

// The script that the user runs is as open to others as any file.
func TestModes(t *testing.T) {
	j := job()
	j.Results = t.TempDir()
	script := must.Have(j.Write())(t)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(script), "*"))
	if err != nil || len(files) != 5 {
		t.Fatalf("%q, %v", files, err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	testfiles.Write(t, plain, "")
	usual := must.Have(os.Stat(plain))(t)
	for _, path := range files {
		info := must.Have(os.Stat(path))(t)
		want := usual.Mode()
		if info.Name() == SubmitScript {
			want |= (want & 0o444) >> 2
		}
		if info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode(), want)
		}
	}
}
