package main

import (
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
)

// withoutTimes returns the result but for what differs between two equal runs.
func withoutTimes(t *testing.T, dir store.Dir) store.Result {
	t.Helper()
	result := must.Have(dir.ReadResult())(t)
	result.Seconds, result.PeakMemoryBytes = 0, 0
	return result
}
