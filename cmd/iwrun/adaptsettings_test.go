package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

func TestAdaptDryRun(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	status, out, text := call(t, adaptLine("--dry-run")...)
	if status != 0 || !strings.Contains(text, "4 runs without steps") {
		t.Errorf("status %d\n%s", status, text)
	}
	for _, part := range []string{"methods: [source-only@linear, source-only@perceptron, source-only@forest, source-only@boosting]", "alike: [source-only@linear, source-only@perceptron, source-only@forest, source-only@boosting]}", "normalise: none", "validation: 0.1", "restarts: 3", "epochs: 20 #", "without labels"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
	_, out, text = call(t, "adapt", "--source", "source.csv", "--target", "target.csv", "-o", "out", "--device", "cpu", "--dry-run", "--steps", "300")
	if !strings.Contains(out, "epochs: 33 # passes over the larger domain: 297 steps") || !strings.Contains(out, "iterations: 297}") {
		t.Errorf("300 steps:\n%s\n%s", out, text)
	}
	if _, err := os.Stat("out"); !os.IsNotExist(err) {
		t.Errorf("written: %v", err)
	}
}

// Data or options that are wrong are named, and nothing that was there is lost.
func TestAdaptRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	testfiles.Write(t, "infinite.csv", "x,y\n1,2\n3,Inf\n")
	testfiles.Write(t, "narrow.csv", "x,z\n1,2\n")
	testfiles.Write(t, "one.csv", "x,y,label\n"+strings.Repeat("1,2,ant\n", 9))
	testfiles.Write(t, "few.csv", "x,y\n"+strings.Repeat("1,2\n", 9))
	testfiles.Write(t, "rare.csv", "x,y,label\n"+strings.Repeat("1,2,ant\n", 9)+"3,4,bee\n")
	testfiles.Write(t, "unknown.csv", "x,y,label\n"+strings.Repeat("1,2,ant\n3,4,bee\n", 9)+"3,4,\n")
	succeed(t, adaptLine()...)
	before := readFile(t, "out/predictions.csv")
	line := func(source, target string, more ...string) []string {
		return append([]string{"adapt", "--source", source, "--target", target, "-o", "out", "--device", "cpu"}, more...)
	}
	for _, test := range []struct {
		arguments []string
		status    int
		want      string
	}{
		{line("source.csv", "infinite.csv"), 2, "infinite.csv:3: column \"y\": \"Inf\" is not a float32 number"},
		{line("source.csv", "narrow.csv"), 2, "narrow.csv:1: there is no column \"y\", but "},
		{line("source.csv", "missing.csv"), 2, "missing.csv"},
		{line("target.csv", "source.csv"), 2, "target.csv: which column has the labels?"},
		{line("one.csv", "target.csv"), 2, "one.csv has the classes [\"ant\"]; at least 2"},
		{line("rare.csv", "target.csv"), 2, "each class needs at least 3 rows, because some are held out; \"bee\" has 1: add rows"},
		{line("source.csv", "few.csv"), 2, "few.csv has 9 rows; at least 10 are needed to estimate the means"},
		{line("unknown.csv", "target.csv"), 2, "unknown.csv:20: 1 of 19 rows has no label"},
		{line("source.csv", "source.csv"), 2, "choose another folder with -o"},
		{line("source.csv", "target.csv", "-o", "few.csv"), 2, "few.csv is a file, but a folder of that name would be written; choose another name with -o"},
		{line("source.csv", "target.csv", "--set", "train.epoch=3"), 2, "epochs"},
		{line("source.csv", "target.csv", "--set", "selection.rule=best"), 2, "unknown rule \"best\""},
		{line("source.csv", "target.csv", "--set", "weights.shares=[1, 2, 3, 4]", "--overwrite"), 2, "iwrun predict with --shares FILE"},
		{line("source.csv", "target.csv", "--set", "train.validation=0", "--overwrite"), 2, "experiment.yaml: train.validation is 0 for full/source-target/source-only@linear/seed-1"},
		{line("source.csv", "target.csv", "--set", "tasks=[target-source]", "--overwrite"), 2, "task target-source is not that of these files: leave tasks at [source-target]"},
		{line("source.csv", "target.csv", "--set", "train.batch=16"), 2, "train.batch: 32 there, 16 here"},
		{line("source.csv", "target.csv", "--steps", "300"), 2, "train.epochs: 20 there, 33 here"},
		{line("source.csv", "target.csv", "--steps", "-1"), 2, "--steps -1: a run takes one step or more"},
		{line("source.csv", "target.csv", "--label-shift", "--set", "selection.rule=im"), 2, "selection.label_shift is for the methods of selection.alike"},
		{line("source.csv", "target.csv", "--label-shift", "--set", "methods=[mcc]"), 2, "add one of source-only@linear, source-only@perceptron, source-only@forest or source-only@boosting to methods"},
		{[]string{"adapt", "--source", "source.csv", "-o", "out"}, 2, "name a source and a target"},
	} {
		status, out, text := call(t, test.arguments...)
		if status != test.status || out != "" || !strings.Contains(text, test.want) {
			t.Errorf("%v: status %d, want %d and %q\n%s\n%s", test.arguments, status, test.status, test.want, out, text)
		}
	}
	if readFile(t, "out/predictions.csv") != before {
		t.Error("the predictions changed")
	}
	if status, _, text := call(t, adaptLine()...); status != 0 || !strings.Contains(text, "4 runs were already finished") {
		t.Errorf("status %d\n%s", status, text)
	}
}

// A normalisation that is asked for takes with it what adapt would have set beside its own:
// values far from all others, which are clipped before columns are standardised, stay as they
// are.
func TestAdaptNormalisedAsAskedFor(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	lines := strings.Split(readFile(t, "target.csv"), "\n")
	lines[7] = "row-6,90000,0.5"
	testfiles.Write(t, "target.csv", strings.Join(lines, "\n"))
	line := []string{"adapt", "--source", "source.csv", "--target", "target.csv", "-o", "out", "--dry-run"}
	for way, clipped := range map[string]bool{"": true, "none": false, "standard": true} {
		if way != "" {
			way = "network.normalise=" + way
			line = append(line[:8], "--set", way)
		}
		status, file, text := call(t, line...)
		if status != 0 || strings.Contains(file, "clip: 2}") != clipped || strings.Contains(file, "clipped at two standard deviations") != clipped {
			t.Errorf("%s: status %d: %s%s", way, status, file, text)
		}
	}
}

// The steps that are planned, over which the alignment's weight grows, are those that are
// made: training does not see the source's rows that are held out.
func TestAdaptCountsTheStepsThatAreMade(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	lines := strings.SplitAfter(readFile(t, "target.csv"), "\n")
	testfiles.Write(t, "target.csv", strings.Join(lines[:101], "")) // fewer than the source's 540 of 600
	line := []string{"adapt", "--source", "source.csv", "--target", "target.csv", "-o", "out", "--steps", "60", "--device", "cpu",
		"--set", "network.normalise=none", "--set", "seeds=[1]", "--set", "methods=[iwdan]"}
	succeed(t, line...)
	runs, err := filepath.Glob("out/runs/*/*/*/*/*/result.json")
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	var result struct{ Steps int }
	must.Do(t, json.Unmarshal([]byte(readFile(t, runs[0])), &result))
	for _, planned := range []string{fmt.Sprintf("domain: %d steps in all", result.Steps), fmt.Sprintf("reversal: {iterations: %d}", result.Steps)} {
		if file := readFile(t, "out/experiment.yaml"); !strings.Contains(file, planned) {
			t.Errorf("%d steps are made, planned is\n%s", result.Steps, file)
		}
	}
}
