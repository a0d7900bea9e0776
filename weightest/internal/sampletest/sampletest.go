// Package sampletest makes samples for the tests of the packages on weightest. An error ends
// the test.
package sampletest

import (
	"math/rand/v2"
	"testing"

	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/weightest"
)

// Of returns weightest.SampleOf without an error, to be called with a function's results.
func Of(t testing.TB) func(k int, source []float64, labels []int, target []float64) *weightest.Sample {
	return func(k int, source []float64, labels []int, target []float64) *weightest.Sample {
		t.Helper()
		return must.Have(weightest.SampleOf(k, source, labels, target))(t)
	}
}

// Gaussian draws n source and m target rows.
func Gaussian(t testing.TB, p gaussians.Problem, n, m int, seed uint64) *weightest.Sample {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	source, labels := p.SourceRows(n, random)
	return Of(t)(len(p.Source), source, labels, p.TargetRows(m, random))
}
