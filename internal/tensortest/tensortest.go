// Package tensortest compares tensors with reference values in tests.
package tensortest

import (
	"math"
	"testing"

	"iwda/internal/golden"
	"iwda/torch"
)

// Near reports an element of got, of any type on any device, that differs from the
// array's by more than the tolerance, relative to the array's largest.
func Near(t testing.TB, what string, got torch.Tensor, want golden.Array, tolerance float64) {
	t.Helper()
	values := torch.ToSlice[float64](got.To(torch.Float64, torch.CPU))
	if len(values) != len(want.Data) {
		t.Fatalf("%s: %d values, want %d", what, len(values), len(want.Data))
	}
	largest := 0.0
	for _, v := range want.Data {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range values {
		if !(math.Abs(v-want.Data[i]) <= tolerance*largest) {
			t.Errorf("%s: element %d is %v, want %v (largest %v)", what, i, v, want.Data[i], largest)
			return
		}
	}
}
