package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSameBits compares all that is computed several values at a time with what the loops
// in Go compute.
func TestSameBits(t *testing.T) {
	t.Logf("this processor has AVX2 and FMA: %v", hasVectors)
	defer func(former bool) { hasVectors = former }(hasVectors)
	var results [2][]float64
	for side := range results {
		hasVectors = hasVectors && side == 0
		r := rand.New(rand.NewPCG(11, 12))
		for _, n := range lengths {
			x, largest, sum, factor := normal(r, n), normal(r, n), make([]float64, n), normal(r, n)
			z, mean := normal(r, n), make([]float64, n)
			Raise(largest, z, Affine{1.3, 0.1})
			AddExp(x, z, largest, sum, Affine{1.3, 0.1})
			moments := Normalise(x, factor, z, mean)
			sums := make([]float64, 49)
			AddGram(sums, 7, [][]float64{x, z, mean, sum, largest, factor, z})
			columns, weights := normal(r, 9*n), normal(r, 9)
			combined, projected := make([]float64, n), normal(r, 9)
			Combine(combined, columns, weights)
			Project(projected, columns, combined)
			var all []float64
			for columnsOf := 1; n > 0 && columnsOf <= 5; columnsOf++ {
				combined, projected := make([]float64, columnsOf*n), normal(r, 9*columnsOf)
				CombineAll(combined, columns, normal(r, 9*columnsOf), n)
				ProjectAll(projected, columns, combined, n)
				all = slices.Concat(all, combined, projected)
			}
			transposed := make([]float64, 9*n)
			Transpose(transposed, columns, n, 9, n, 9)
			results[side] = slices.Concat(results[side], all, x, largest, sum, mean, sums, factor, combined, projected, transposed, []float64{moments.Sum, moments.First, moments.Second})
		}
	}
	for i, one := range results[0] {
		if other := results[1][i]; one != other {
			t.Fatalf("number %d is %v several at a time and %v with the loops in Go", i, one, other)
		}
	}
}
