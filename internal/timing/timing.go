// Package timing measures in benchmarks.
package timing

import (
	"slices"
	"testing"
	"time"
)

// ReportMedian calls f b.N times, after a tenth as many calls that do not count, and
// reports the median time as "ms": a noisy machine moves it less than the mean. Where one
// call makes several operations, the time is that of one of them.
func ReportMedian(b *testing.B, operations int, f func(i int)) {
	b.Helper()
	for i := range max(1, b.N/10) {
		f(i)
	}
	times := make([]time.Duration, b.N)
	b.ResetTimer()
	for i := range b.N {
		start := time.Now()
		f(i)
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	b.ReportMetric(times[b.N/2].Seconds()*1e3/float64(operations), "ms")
}

// Size is the size of what is measured, or with -short a smaller one, where it only counts that the
// benchmark comes to its end.
func Size(usual, short int) int {
	if testing.Short() {
		return short
	}
	return usual
}
