package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs a command line without spaces in its words.
func call(line string) (status int, out, err string) {
	var outText, errText strings.Builder
	status = run("labelshift", strings.Fields(line), &outText, &errText)
	return status, outText.String(), errText.String()
}

func TestProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	source, target := "probability_cat,probability_dog,label\n", "probability_cat,probability_dog\n"
	for i := range 60 {
		right := []string{"0.9,0.1,cat", "0.2,0.8,dog", "0.7,0.3,cat", "0.6,0.4,dog"}[i%4]
		source += right + "\n"
		target += fmt.Sprintf("0.%d,0.%d\n", 1+i%3, 9-i%3)
	}
	for path, text := range map[string]string{"source.csv": source, "target.csv": target} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	status, out, said := call("--source source.csv --target target.csv --replicas 50")
	if status != 0 || said != "" || !strings.Contains(out, "# Class shares of target.csv") || !strings.Contains(out, "| dog ") {
		t.Errorf("status %d, stderr %q, stdout\n%s", status, said, out)
	}
	// Flags stand before and after the files that are merged.
	for i, part := range []string{"--source source.csv", "--target target.csv"} {
		if status, _, said := call(fmt.Sprintf("%s --partial %d.sums --replicas 20", part, i)); status != 0 {
			t.Fatal(said)
		}
	}
	status, _, said = call("--estimator bbse-hard --merge 0.sums 1.sums --replicas 20 -o table.md")
	if status != 0 {
		t.Errorf("status %d, stderr %q", status, said)
	}
	if table, err := os.ReadFile(filepath.Join("table.md")); err != nil || !strings.Contains(string(table), "Estimator bbse-hard") {
		t.Errorf("%s, error %v", table, err)
	}
}

func TestWrongUsage(t *testing.T) {
	for line, want := range map[string]string{
		"--estimater mlls":       "labelshift: there is no flag --estimater; did you mean --estimator?",
		"--source source.csv":    "labelshift: SOURCE and TARGET are needed",
		"table":                  "labelshift: SOURCE and TARGET are needed",
		"--source a --target b ": "labelshift: a: rows are read from files that end with ",
	} {
		status, out, said := call(line)
		if wrong := strings.Contains(said, "Usage:\n  labelshift SOURCE TARGET"); out != "" || !strings.Contains(said, want) || wrong != !strings.Contains(said, "rows are read") || status != 2 {
			t.Errorf("%s: status %d, stdout %q, stderr %q", line, status, out, said)
		}
	}
}

func TestHelp(t *testing.T) {
	if status, out, said := call("--help"); status != 0 || said != "" || !strings.Contains(out, "--calibration NAME") || strings.Contains(out, "iwrun") {
		t.Errorf("status %d, stderr %q, stdout\n%s", status, said, out)
	}
}

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"labelshift":                     "labelshift",
		"/opt/iwda/labelshift":           "labelshift",
		"/opt/iwda/bin/iwrun-labelshift": "iwrun labelshift",
	} {
		if name := nameOf(path); name != want {
			t.Errorf("started as %s the program calls itself %q, want %q", path, name, want)
		}
	}
}
