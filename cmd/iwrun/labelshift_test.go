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
	status, out, said := call(t, "labelshift", "source.csv", "target.csv", "--replicas", "0")
	if status != 0 || said != "" || !strings.Contains(out, "# Class shares of target.csv") {
		t.Errorf("status %d, stderr %q, stdout %q", status, said, out)
	}
	status, _, said = call(t, "labelshift", "source.csv")
	if status != 2 || !strings.Contains(said, "iwrun: SOURCE and TARGET are needed") || !strings.Contains(said, "iwrun labelshift --run FOLDER") {
		t.Errorf("status %d, stderr %q", status, said)
	}
}
