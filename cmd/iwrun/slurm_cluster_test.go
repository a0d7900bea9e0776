//go:build slurm

package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"

	"github.com/google/go-cmp/cmp"
)

// smallDemo makes the demonstration one of six runs that take some seconds.
var smallDemo = []string{"--set", "methods=[" + strings.Join(demoMethods, ", ") + "]", "--set", "seeds=[1]", "--set", "train.epochs=12", "--set", "dataset.train_per_class=40", "--set", "dataset.test_per_class=10", "--set", "train.batch=32"}

// demoMethods are one of each family.
var demoMethods = []string{"source-only", "dann", "iwdan", "iwdan-o", "iwcdan", "iwjan"}

// TestSlurmInterruptedArray: six tasks, each stopped and queued again in the middle of its
// run, give the same bits as runs that were never stopped; then come the tables.
func TestSlurmInterruptedArray(t *testing.T) {
	demo := must.Have(filepath.Abs("../../configs/demo.yaml"))(t)
	t.Chdir(t.TempDir())
	t.Setenv(asProgram, "yes")
	startSlurm(t, 1001)
	status, out, text := call(t, append([]string{"slurm", "-c", demo, "--time", "1:00:00", "--submit"}, smallDemo...)...)
	jobs := jobNumbers(out)
	if status != 0 || len(jobs) != 2 {
		t.Fatalf("status %d\n%s\n%s", status, out, text)
	}

	waiting := slices.Clone(demoMethods)
	waitForSlurm(t, "every task was interrupted in the middle", func() bool {
		waiting = slices.DeleteFunc(waiting, func(method string) bool {
			metrics, err := demoDir("results", method).ReadMetrics()
			if err != nil || metrics[len(metrics)-1].Epoch < 2 {
				return false
			}
			task := fmt.Sprintf("%s_%d", jobs[0], slices.Index(demoMethods, method))
			slurmOutput(t, "scancel", "--batch", "--signal=USR1", task)
			return true
		})
		return len(waiting) == 0
	})
	waitForSlurm(t, "all jobs have ended", func() bool { return slurmOutput(t, "squeue", "--noheader") == "" })
	for i, method := range demoMethods {
		log := readFile(t, filepath.Join("results", "demo", "slurm", "logs", fmt.Sprintf("%s_%d.txt", jobs[0], i)))
		if !strings.Contains(log, "queued again") || !strings.Contains(log, "start 2") {
			t.Errorf("%s was not interrupted:\n%s", method, log)
		}
	}

	status, _, text = call(t, append([]string{"-c", demo, "-o", "uninterrupted", "-j", "2"}, smallDemo...)...)
	if status != 0 {
		t.Fatal(text)
	}
	for _, method := range demoMethods {
		expectSame(t, demoDir("results", method), demoDir("uninterrupted", method))
	}
	if table := readFile(t, filepath.Join("results", "demo", "table.md")); strings.Count(table, "1/1") != len(demoMethods) {
		t.Errorf("the table is\n%s", table)
	}
}

func demoDir(results, method string) store.Dir {
	return store.NewDir(results, "demo", store.ID{Variant: "subsampled", Task: "clean-warped", Method: method, Seed: 1}.String())
}

var jobLine = regexp.MustCompile(`(?m): job ([0-9]+)$`)

// jobNumbers returns the numbers of the jobs that iwrun slurm --submit printed.
func jobNumbers(out string) []string {
	var numbers []string
	for _, match := range jobLine.FindAllStringSubmatch(out, -1) {
		numbers = append(numbers, match[1])
	}
	return numbers
}

// TestSlurmAwkwardNamesAndManyArrays: folders and values with blanks, quotes and line breaks
// reach the tasks, also where the runs take several arrays, one after the other.
func TestSlurmAwkwardNamesAndManyArrays(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "it's a \"b\"\n$HOME")
	testfiles.MakeFolder(t, folder)
	t.Chdir(folder)
	t.Setenv(asProgram, "yes")
	t.Setenv("ROOT_OF_TEST", "a b'c")
	testfiles.Write(t, "tiny.yaml", strings.Replace(tiny, "{name: glyphs,", `{name: glyphs, root: "${ROOT_OF_TEST}/x",`, 1))
	startSlurm(t, 2)
	title := `it's "$HOME" \n`
	status, out, text := call(t, "slurm", "-c", "tiny.yaml", "-o", "my results", "--set", "methods=[source-only, dann, iwdan]",
		"--set", "title='"+strings.ReplaceAll(title, "'", "''")+"'", "--at-once", "1", "--submit")
	jobs := jobNumbers(out)
	if status != 0 || len(jobs) != 3 {
		t.Fatalf("status %d\n%s\n%s", status, out, text)
	}
	// What is queued keeps its meaning.
	testfiles.Write(t, "tiny.yaml", "changed: later\n")
	os.Unsetenv("ROOT_OF_TEST")
	waitForSlurm(t, "all jobs have ended", func() bool { return slurmOutput(t, "squeue", "--noheader") == "" })
	logs, err := filepath.Glob(filepath.Join("my results", "tiny", "slurm", "logs", "*.txt"))
	if err != nil || len(logs) != 4 {
		t.Errorf("logs: %q, %v", logs, err)
	}
	for _, method := range []string{"source-only", "dann", "iwdan"} {
		dir := store.NewDir("my results", "tiny", store.ID{Variant: "subsampled", Task: "clean-warped", Method: method, Seed: 1}.String())
		if _, err := dir.ReadResult(); err != nil {
			t.Error(err)
			continue
		}
		if config := readFile(t, dir.Path(store.ConfigFile)); !strings.Contains(config, "root: a b'c/x\n") {
			t.Errorf("the variable's value is not in\n%s", config)
		}
	}
	if table := readFile(t, filepath.Join("my results", "tiny", "table.md")); !strings.Contains(table, title) {
		t.Errorf("the title is not in\n%s", table)
	}
}

// TestSlurmCancelledTask: scancel ends a task for good; its run has a checkpoint all the same.
func TestSlurmCancelledTask(t *testing.T) {
	inFolder(t)
	t.Setenv(asProgram, "yes")
	startSlurm(t, 1001)
	status, out, text := call(t, "slurm", "-c", "tiny.yaml", "--set", "train.epochs=100000", "--only", "*/*/iwdan/*", "--submit")
	jobs := jobNumbers(out)
	if status != 0 || len(jobs) != 2 {
		t.Fatalf("status %d\n%s\n%s", status, out, text)
	}
	waitForSlurm(t, "the run trains", func() bool {
		metrics, err := tinyDir("iwdan").ReadMetrics()
		return err == nil && metrics[len(metrics)-1].Epoch > 0
	})
	slurmOutput(t, "scancel", jobs[0])
	waitForSlurm(t, "all jobs have ended", func() bool { return slurmOutput(t, "squeue", "--noheader") == "" })
	job := slurmOutput(t, "scontrol", "show", "job", jobs[0]+"_1")
	if !strings.Contains(job, "JobState=CANCELLED") || !strings.Contains(job, "Restarts=0") {
		t.Errorf("the job is\n%s", job)
	}
	if status, out, text = call(t, "status", "-c", "tiny.yaml", "--set", "train.epochs=100000"); status != 0 ||
		!strings.Contains(out, "tiny: 2 runs: 0 finished, 2 left\n") || !regexp.MustCompile(`\n1 .*iwdan/seed-1 +left +[1-9][0-9]* of 100000 `).MatchString(out) {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
}

// expectSame compares two runs in all that does not depend on the clock.
func expectSame(t *testing.T, interrupted, whole store.Dir) {
	t.Helper()
	for _, name := range []string{store.MetricsFile, store.WeightsFile} {
		if diff := cmp.Diff(withoutSeconds(t, whole.Path(name)), withoutSeconds(t, interrupted.Path(name))); diff != "" {
			t.Errorf("%s: %s", interrupted.Path(name), diff)
		}
	}
	if diff := cmp.Diff(withoutTimes(t, whole), withoutTimes(t, interrupted)); diff != "" {
		t.Errorf("%s: %s", interrupted.Path(store.ResultFile), diff)
	}
}

// withoutSeconds returns the cells of a CSV file but for those of the column seconds.
func withoutSeconds(t *testing.T, path string) [][]string {
	t.Helper()
	rows := must.Have(csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll())(t)
	if column := slices.Index(rows[0], "seconds"); column >= 0 {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], column, column+1)
		}
	}
	return rows
}
