package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// TestSlurm writes scripts for what is unfinished, and submits them to a sbatch that
// only notes what it is called with.
func TestSlurm(t *testing.T) {
	inFolder(t)
	bin := t.TempDir()
	writeProgram(t, filepath.Join(bin, "sbatch"), `echo "$PWD: $*" >>`+filepath.Join(bin, "calls")+`; echo "7;cluster"`)
	writeProgram(t, filepath.Join(bin, "scontrol"), `echo "SomethingElse = 5"; echo "MaxArraySize            = 2"`)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	succeed(t, "-c", "tiny.yaml", "--only", "*/*/iwdan/*")

	folder := filepath.Join(workingFolder(t), "results", "tiny", "slurm")
	status, out, text := call(t, "slurm", "-c", "tiny.yaml", "--set", "methods=[iwdan, source-only, dann]",
		"--sbatch", "--partition=long", "--sbatch", "--qos=low", "--time", "1:00:00", "--retries", "3")
	if status != 0 || out != filepath.Join(folder, "submit.sh")+"\n" || !strings.Contains(text, "left out: 1 finished, 0 running\n2 runs; ") {
		t.Fatalf("status %d, %q, %q", status, out, text)
	}
	for name, lines := range map[string][]string{
		"array-1.sh": {"#SBATCH --array=1\n", "--cpus-per-task=1\n#SBATCH --time=1:00:00\n#SBATCH --partition=long\n#SBATCH --qos=low\n", " --retries=3 &\n", "SLURM_ARRAY_TASK_ID + 0"},
		"array-2.sh": {"#SBATCH --array=0\n", "SLURM_ARRAY_TASK_ID + 2"},
		"tables.sh":  {"#SBATCH --partition=long\n#SBATCH --qos=low\n#SBATCH --time=0:30:00\n"},
	} {
		for _, line := range lines {
			if script := readFile(t, filepath.Join(folder, name)); !strings.Contains(script, line) {
				t.Errorf("%q is not in %s:\n%s", line, name, script)
			}
		}
	}
	status, out, text = call(t, "slurm", "-c", "tiny.yaml", "--submit")
	if want := "array-1.sh: job 7\ntables.sh: job 7\n"; status != 0 || out != want {
		t.Errorf("status %d, stdout %q, want %q, stderr %q", status, out, want, text)
	}
	calls := folder + ": --parsable array-1.sh\n" + folder + ": --parsable --dependency=afterany:7 tables.sh\n"
	if got := readFile(t, filepath.Join(bin, "calls")); got != calls {
		t.Errorf("sbatch was called with\n%swant\n%s", got, calls)
	}
	if _, err := os.Stat(filepath.Join(folder, "array-2.sh")); !os.IsNotExist(err) {
		t.Errorf("a script of the former submission: %v", err)
	}
}

func TestSlurmNothingOrTheWrongThing(t *testing.T) {
	inFolder(t)
	succeed(t, "-c", "tiny.yaml")
	status, out, text := call(t, "slurm", "-c", "tiny.yaml", "--submit")
	if status != 0 || out != "" || text != "left out: 2 finished, 0 running\n" {
		t.Errorf("finished: status %d, %q, %q", status, out, text)
	}
	changed := []string{"slurm", "-c", "tiny.yaml", "--set", "train.epochs=2"}
	status, out, text = call(t, changed...)
	if status != 1 || out != "" || !strings.Contains(text, "train.epochs: 1 there, 2 here") || !strings.Contains(text, "--overwrite") {
		t.Errorf("other configuration: status %d, %q, %q", status, out, text)
	}
	if _, err := os.Stat(filepath.Join("results", "tiny", "slurm")); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
	status, out, text = call(t, append(changed, "--overwrite")...)
	if status != 0 || !strings.Contains(readFile(t, filepath.Join("results", "tiny", "slurm", "array-1.sh")), " --overwrite=true &\n") {
		t.Errorf("overwrite: status %d, %q, %q", status, out, text)
	}
}

func writeProgram(t *testing.T, path, script string) {
	t.Helper()
	testfiles.Write(t, path, "#!/bin/sh\n"+script+"\n")
	must.Do(t, os.Chmod(path, 0o777))
}

func workingFolder(t *testing.T) string {
	t.Helper()
	return must.Have(os.Getwd())(t)
}
