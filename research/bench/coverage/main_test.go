package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A cell that was counted is not counted again but by its tests, and the page has the lines of all of them.
func TestRunGoesOn(t *testing.T) {
	folder := t.TempDir()
	file, page := filepath.Join(folder, "counted.json"), filepath.Join(folder, "page.md")
	if err := os.WriteFile(page, []byte("text\n<!-- coverage rows -->\nold\n<!-- /coverage -->\nmore\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, only := range []string{"^k=2 n=200 m=200 cal", "^k=2 n=200 m=200 "} {
		if err := run("rows", 3, only, false, file, page); err != nil {
			t.Fatal(err)
		}
	}
	counted, err := read(file)
	if err != nil || len(counted) != 2 || counted["k=2 n=200 m=200 calibrated"].Draws != 3 {
		t.Fatalf("%v, %v", counted, err)
	}
	counted["k=2 n=200 m=200 calibrated"] = tally{Draws: 4, Shares: []int{4, 3}, Weights: []int{2, 4}, Joint: []int{3, 2}, Tested: 4, Rejected: 1}
	if err := write(file, counted); err != nil {
		t.Fatal(err)
	}
	if err := run("rows", 3, "m=200 cal", false, file, page); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.Contains(got, "| 2 | 200 | 200 | calibrated | 4 | 87.5 (75.0–100.0) | 75.0 (50.0–100.0) | 75.0, 50.0 | 25.0 of 4 |\n| 2 | 200 | 200 | too sure, biased | 3 |") ||
		strings.Contains(got, "old") || !strings.HasPrefix(got, "text\n") || !strings.HasSuffix(got, "more\n") {
		t.Errorf("%s", got)
	}
	if err := run("rows", 5, "n=200 m=[12]", true, file, page); err != nil {
		t.Fatal(err)
	}
	if counted, err = read(file); err != nil || len(counted) != 4 || counted["k=2 n=200 m=200 calibrated"].Tested != 5 || counted["k=2 n=200 m=200 calibrated"].Draws != 4 {
		t.Errorf("tests alone: %v, %v", counted, err)
	}
	if err := run("rows", 3, "m=200 cal", false, file, file); err == nil {
		t.Error("a page without the comments is no error")
	}
}

// Cells that hold too seldom, and tests that reject too often, are named; what holds more often is a number.
func TestMisses(t *testing.T) {
	all := cells("many")[:3]
	counted := map[string]tally{
		all[0].String(): {Draws: 100, Shares: []int{95, 94}, Joint: []int{99, 0}, Tested: 100, Rejected: 8},
		all[2].String(): {Draws: 100, Shares: []int{90, 91}, Joint: []int{96, 0}, More: map[string]count{"precision": {Held: 98, Of: 100}}},
	}
	want := `| number | should be | cells | so | above | below |
| --- | --- | ---: | ---: | --- | --- |
| shares | 93 to 97% | 2 | 1 |  | k=10 n=100 m=1000 calibrated: 90.5 |
| all shares | 93 to 97% | 2 | 1 | 1 |  |
| precision | 93 to 97% | 1 | 0 | 1 |  |
| label shift rejects | 0 to 7% | 1 | 0 | k=10 n=100 m=30 calibrated: 8.0 |  |
`
	if got := misses(all, counted); got != want {
		t.Errorf("got\n%s", got)
	}
}
