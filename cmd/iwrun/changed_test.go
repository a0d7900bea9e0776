package main

import (
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// Files of rows that have changed since are not taken for those that runs were made of. Runs of other
// tasks stay.
func TestChangedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	testfiles.Write(t, "scans.csv", readFile(t, "target.csv"))
	testfiles.Write(t, "own.yaml", `
experiment: own
dataset: {name: files, domains: {photos: {path: source.csv}, sketches: {path: target.csv}, scans: {path: scans.csv}}}
tasks: [photos-sketches, photos-scans]
variants: [full]
methods: [source-only]
seeds: [1]
network: {name: mlp, features: 8, layers: 1}
train: {epochs: 2, batch: 8}
`)
	line := []string{"-c", "own.yaml", "-o", "results", "-j", "1", "--threads", "1"}
	succeed(t, line...)
	if status, _, text := call(t, line...); status != 0 || !strings.Contains(text, "2 runs were already finished") {
		t.Fatalf("status %d: %s", status, text)
	}
	testfiles.Write(t, "target.csv", strings.Replace(readFile(t, "target.csv"), "\n", "\n3,4,5\n", 1))
	const result = "results/own/full/photos-sketches/source-only/seed-1/result.json"
	former := readFile(t, result)
	if status, _, text := call(t, line...); status != 2 || !strings.Contains(text, "seed-1: was trained on other data than these") || readFile(t, result) != former {
		t.Errorf("status %d: %s", status, text)
	}
	if status, _, text := call(t, append(line, "--overwrite")...); status != 0 || readFile(t, result) == former || !strings.Contains(text, "1 run was already finished") {
		t.Errorf("after --overwrite: status %d: %s", status, text)
	}
}
