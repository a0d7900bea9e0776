// Package allocation measures in tests what a call takes of Go's heap.
package allocation

import (
	"runtime/metrics"
	"testing"
)

// slack is what a measurement may be out by: the runtime counts small objects late, when
// their span is full, and those of all goroutines.
const slack = 4 << 20

// Within fails the test where f allocates more than limit bytes in all, give or take some
// megabytes; those that it has freed count too.
func Within(t testing.TB, limit int, f func()) {
	t.Helper()
	before := total()
	f()
	if allocated := total() - before; allocated > uint64(limit)+slack {
		t.Errorf("%d bytes were allocated, at most %d are allowed", allocated, limit)
	}
}

// Allowed is what reading a file of so many bytes may allocate: 64 MiB and 100 times that.
func Allowed(size int) int { return 64<<20 + 100*size }

// total returns the bytes allocated on the heap since the program started. Unlike
// runtime.ReadMemStats it does not stop the program, so a fuzz target can afford it.
func total() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
