package main

import (
	"testing"

	"iwda/experiments/store"
)

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
