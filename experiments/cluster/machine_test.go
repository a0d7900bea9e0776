package cluster

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
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

// Only their owner reads the values of variables. The script that the user runs is as open to others as
// any file.
func TestVariablesArePrivate(t *testing.T) {
	j := job()
	j.Results = t.TempDir()
	script := must.Have(j.Write())(t)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(script), "*"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%q, %v", files, err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	testfiles.Write(t, plain, "")
	usual := must.Have(os.Stat(plain))(t)
	for _, path := range files {
		info := must.Have(os.Stat(path))(t)
		want := usual.Mode()
		switch name := info.Name(); {
		case strings.HasPrefix(name, "variables-"):
			want = 0o600
		case name == SubmitScript:
			want |= (want & 0o444) >> 2
		}
		if info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode(), want)
		}
	}
}

// Tasks find the data of an experiment that names none: defaults refer to IWDA_DATA.
func TestDataOfDefaults(t *testing.T) {
	t.Setenv("IWDA_DATA", "/datasets")
	j := job()
	j.Config = []byte("experiment: digits\ndataset: {name: digits}\n")
	must.Do(t, j.Here(t.TempDir()))
	if got, want := j.exports(), "\nexport IWDA_DATA=/datasets\n"; !strings.HasSuffix(got, want) {
		t.Errorf("variables\n%s\nwant %q", got, want)
	}
	must.Do(t, os.Unsetenv("IWDA_DATA"))
	if err := j.Here(t.TempDir()); err != nil || j.exports() != "" {
		t.Errorf("without IWDA_DATA: %q, %v", j.exports(), err)
	}
}
