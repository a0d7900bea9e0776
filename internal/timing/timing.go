// Package timing measures in benchmarks.
package timing

import (
	"slices"
	"testing"
	"time"
)

// ReportMedian calls f b.N times, and a tenth as often before, and reports the median
// as "ms": a noisy machine moves it less than the mean. operations is how many of what
// the metric counts a call makes.
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
