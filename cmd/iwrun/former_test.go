package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// formerResults copies the folder of results that version 0.3.0 left of two runs of moons,
// with keys that are gone since, into the working directory, and returns the arguments that
// name these runs.
func formerResults(t *testing.T) []string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("results", os.DirFS(filepath.Join(here, "testdata", "results-0.3.0"))); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"-c", filepath.Join(here, "..", "..", "configs", "moons.yaml")}
	for _, set := range []string{
		"methods=[source-only, iwdan]", "variants=[subsampled]", "seeds=[1]", "train={epochs: 2, validation: 0.2}", "network.features=8",
		"dataset={train_per_class: 40, test_per_class: 20}", "discriminator={hidden: 16, normalise: shared}",
	} {
		arguments = append(arguments, "--set", set)
	}
	return arguments
}

// What version 0.3.0 left is read as it was: in tables, figures and pages, as finished runs,
// and as models that predict.
func TestResultsOfFormerVersions(t *testing.T) {
	arguments := formerResults(t)
	for command, want := range map[string]string{
		"table":  "| upright-turned | source-only | 50.00 | 50.00 |",
		"figure": ".png",
		"report": "report.html",
		"status": "2",
	} {
		note := ""
		if command == "figure" { // pictures have no place for it
			note = "Settings of " + arguments[1] + " replaced by " + strings.Join(slices.DeleteFunc(slices.Clone(arguments[2:]), func(word string) bool { return word == "--set" }), ", ") + ".\n"
		}
		status, out, said := call(t, append([]string{command}, arguments...)...)
		if status != 0 || said != note || !strings.Contains(out, want) {
			t.Errorf("%s: status %d\n%s\n%s", command, status, out, said)
		}
	}
	if status, out, said := call(t, append([]string{"-j", "1"}, arguments...)...); status != 0 || strings.Contains(out+said, "started") || !strings.Contains(out, "| 42.50 |") {
		t.Errorf("made again: status %d\n%s\n%s", status, out, said)
	}
	const run = "results/moons/subsampled/upright-turned/iwdan/seed-1"
	testfiles.Write(t, "rows.csv", "x,y\n0.5,0.5\n-1,0.25\n")
	if status, _, said := call(t, "predict", run, "rows.csv", "-o", "out.csv"); status != 0 || strings.Count(readFile(t, "out.csv"), "\n") != 3 {
		t.Errorf("predict: status %d\n%s", status, said)
	}
}

// A run of settings that are gone is another run than any of this version, which says so and
// does not make it.
func TestGoneSettingsOfFormerRuns(t *testing.T) {
	arguments := formerResults(t)
	const run = "results/moons/subsampled/upright-turned/iwdan/seed-1"
	path := filepath.Join(run, "config.yaml")
	testfiles.Write(t, path, strings.Replace(readFile(t, path), "trade_off: 1\n", "trade_off: 1\n  batch_weights: true\n", 1))
	result := filepath.Join(run, "result.json")
	testfiles.Write(t, result, strings.Replace(readFile(t, result), "837665e9b6d228d5", "0123456789abcdef", 1))
	status, out, said := call(t, append([]string{"-j", "1"}, arguments...)...)
	if status == 0 || !strings.Contains(out+said, "losses.batch_weights: true there, not set here") {
		t.Errorf("status %d\n%s\n%s", status, out, said)
	}
	for _, file := range []string{"result.json", "checkpoint.safetensors"} {
		if err := os.Remove(filepath.Join(run, file)); err != nil {
			t.Fatal(err)
		}
	}
	if status, out, said := call(t, "worker", run); status == 0 || !strings.Contains(out+said, "losses.batch_weights: true; it can be read, not made") {
		t.Errorf("worker: status %d\n%s\n%s", status, out, said)
	}
}
