package main

import (
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// TestBrokenResults: what is missing, failed or broken breaks neither tables nor figures.
func TestBrokenResults(t *testing.T) {
	inFolder(t)
	testfiles.Write(t, "tiny.yaml", strings.Replace(tiny, "[source-only, iwdan]", "[source-only, dann, iwdan, iwdan-o]", 1))
	succeed(t, "-c", "tiny.yaml", "--only", "*/*/iwdan/*")
	for _, method := range []string{"source-only", "dann"} {
		must.Do(t, tinyDir(method).Begin())
	}
	must.Do(t, tinyDir("source-only").WriteFailure("the disk <burnt>"))
	testfiles.Write(t, tinyDir("dann").Path(store.ResultFile), "{")

	status, out, err := call(t, "table", "-c", "tiny.yaml")
	if status != 0 || !strings.Contains(out, "1 of 4 runs are finished.") || !strings.Contains(out, "its result cannot be read") {
		t.Errorf("table: status %d, stderr\n%s\nstdout\n%s", status, err, out)
	}
	if status, out, err := call(t, "figure", "-c", "tiny.yaml"); status != 0 || strings.Count(out, "\n") != 1 {
		t.Errorf("figure: status %d, stderr\n%s\nstdout\n%s", status, err, out)
	}
}
