package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSameBitsWithoutAVX2 compares all that is computed four values at a time with what the
// loops in Go compute.
func TestSameBitsWithoutAVX2(t *testing.T) {
	if !wide {
		t.Log("this processor has no AVX2: both are the loops in Go")
	}
	defer func(former bool) { wide = former }(wide)
	results := make([][]float64, 2)
	for side := range results {
		wide = wide && side == 0
		r := rand.New(rand.NewPCG(11, 12))
		for _, n := range lengths {
			x, largest, sum, factor := normal(r, n), normal(r, n), make([]float64, n), normal(r, n)
			z, scaled, mean := normal(r, n), make([]float64, n), make([]float64, n)
			ScaleShift(x, z, largest, 1.3, 0.1)
			AddExp(x, largest, sum)
			moments := Normalise(x, factor, z, scaled, mean)
			sums := make([]float64, 9)
			AddGram(sums, 3, [][]float64{x, z, mean}, [][]float64{x, z, mean})
			columns, weights := normal(r, 9*n), normal(r, 9)
			combined, projected, product := make([]float64, n), normal(r, 9), make([]float64, n)
			Combine(combined, columns, weights)
			Project(projected, columns, combined)
			Multiply(product, combined, z)
			for i := range factor {
				factor[i] = -factor[i] * factor[i]
			}
			Exp(factor)
			results[side] = slices.Concat(results[side], x, largest, sum, scaled, mean, sums, factor, combined, projected, product, []float64{moments.Sum, moments.First, moments.Second})
		}
	}
	for i, one := range results[0] {
		if other := results[1][i]; one != other {
			t.Fatalf("number %d is %v with AVX2 and %v without", i, one, other)
		}
	}
}
