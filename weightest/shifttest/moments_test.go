package shifttest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/internal/sampletest"
)

func momentsOf(t *testing.T, s *weightest.Sample) *moments {
	t.Helper()
	counts := binCertainty(s)
	counts.dropAbsent()
	return newMoments(counts, counts.pooled())
}

func TestMomentsGradient(t *testing.T) {
	const k, h = 4, 1e-6
	m := momentsOf(t, sampletest.Gaussian(t, gaussians.Rising(k), 200, 150, 1))
	q := []float64{0.4, 0.1, 0.3, 0.2}
	m.evaluate(q)
	gradient := slices.Clone(m.gradient)
	for y := range k {
		up, down := slices.Clone(q), slices.Clone(q)
		up[y] += h
		down[y] -= h
		want := (m.evaluate(up) - m.evaluate(down)) / (2 * h)
		if math.Abs(gradient[y]-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("∂J/∂q_%d = %v, want %v", y, gradient[y], want)
		}
	}
}

func TestMomentsMinimum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for seed := range uint64(10) {
		m := momentsOf(t, sampletest.Gaussian(t, gaussians.Rising(3), 120, 90, seed))
		q := []float64{1. / 3, 1. / 3, 1. / 3}
		value := must.Have(m.minimise(q, 0))(t)
		if floats.Min(q) < 0 || math.Abs(floats.Sum(q)-1) > 1e-12 || math.Abs(m.evaluate(q)-value) > 1e-9*(1+value) {
			t.Fatalf("J = %v at %v, which is %v there", value, q, m.evaluate(q))
		}
		// Nowhere near is it lower.
		for range 200 {
			other := slices.Clone(q)
			for y := range other {
				other[y] = math.Max(0, other[y]+random.NormFloat64()*0.03)
			}
			floats.Scale(1/floats.Sum(other), other)
			if lower := m.evaluate(other); lower < value-1e-4 {
				t.Errorf("J = %v at %v, but %v at %v", value, q, lower, other)
			}
		}
	}
}

// A minimum that is only compared is below a value exactly if the whole one is.
func TestMomentsMinimumBelow(t *testing.T) {
	var below, notBelow int
	for seed := range uint64(10) {
		m := momentsOf(t, sampletest.Gaussian(t, gaussians.Rising(4), 120, 90, seed))
		start := []float64{0.1, 0.2, 0.3, 0.4}
		least := must.Have(m.minimise(slices.Clone(start), 0))(t)
		for _, limit := range []float64{least / 2, math.Nextafter(least, 0), least, math.Nextafter(least, 100), 2 * least, m.evaluate(start) * 2} {
			value, err := m.minimise(slices.Clone(start), limit)
			if err != nil || value < least || (value < limit) != (least < limit) {
				t.Errorf("J is %v at least, and %v where %v was asked for (%v)", least, value, limit, err)
			}
			if value < limit {
				below++
			} else {
				notBelow++
			}
		}
	}
	if below != 30 || notBelow != 30 {
		t.Errorf("%d below, %d not", below, notBelow)
	}
}
