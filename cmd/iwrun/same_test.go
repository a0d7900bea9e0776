package main

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/store"
)

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
	rows, err := csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if column := slices.Index(rows[0], "seconds"); column >= 0 {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], column, column+1)
		}
	}
	return rows
}

// withoutTimes returns the result but for what differs between two equal runs.
func withoutTimes(t *testing.T, dir store.Dir) store.Result {
	t.Helper()
	result, err := dir.ReadResult()
	if err != nil {
		t.Fatal(err)
	}
	result.Seconds, result.PeakMemoryBytes = 0, 0
	return result
}
