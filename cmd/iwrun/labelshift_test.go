package main

import (
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// The command is one of iwrun.
func TestLabelShift(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := strings.Repeat("0.9,0.1,cat\n0.2,0.8,dog\n0.7,0.3,cat\n0.4,0.6,dog\n", 20)
	testfiles.Write(t, "source.csv", "probability_cat,probability_dog,label\n"+rows)
	testfiles.Write(t, "target.csv", "probability_cat,probability_dog,label\n"+rows)
	status, out, said := call(t, "labelshift", "--source", "source.csv", "--target", "target.csv", "--replicas", "0")
	if status != 0 || said != "" || !strings.Contains(out, "# Class shares of target.csv") {
		t.Errorf("status %d, stderr %q, stdout %q", status, said, out)
	}
	status, _, said = call(t, "labelshift", "--source", "source.csv")
	if status != 2 || !strings.Contains(said, "iwrun: SOURCE and TARGET are needed") || !strings.Contains(said, "iwrun labelshift --run FOLDER") {
		t.Errorf("status %d, stderr %q", status, said)
	}
}

// A finished run's rows take the place of files, and are what criteria that need no labels of
// the target are compared by.
func TestHeldOutRowsOfARun(t *testing.T) {
	inFolder(t)
	status, _, said := call(t, "-c", "tiny.yaml", "-o", "results", "--set", "train.validation=0.25", "--set", "methods=[source-only]")
	if status != 0 {
		t.Fatal(said)
	}
	status, out, said := call(t, "labelshift", "--run", "results/tiny/subsampled/clean-warped/source-only/seed-1", "--estimator", "bbse-hard", "--calibration", "ts", "--format", "csv")
	if status != 0 || strings.Count(out, "\n") != 11 {
		t.Errorf("status %d, stderr %q, stdout %q", status, said, out)
	}
	again := []string{"-c", "tiny.yaml", "-o", "results", "--set", "train.validation=0.25", "--set", "methods=[source-only]"}
	if status, out, said := call(t, append([]string{"table", "--kind", "selection"}, again...)...); status != 0 || !strings.Contains(out, "\n| target-risk ") {
		t.Errorf("table: status %d, stderr %q, stdout %q", status, said, out)
	}
}
