package weightest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestRatios(t *testing.T) {
	got := Ratios([]float64{0.1, 0.3, 0.5, 0.1}, []float64{0.4, 0.1, 0.5, 0})
	if want := []float64{0.25, 3, 1, 0}; floats.Distance(got, want, math.Inf(1)) > 1e-15 {
		t.Errorf("ratios %v, want %v", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic where the numbers of classes differ")
		}
	}()
	Ratios([]float64{0.5, 0.5}, []float64{1})
}
