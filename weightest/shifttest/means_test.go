package shifttest

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/internal/sampletest"
)

// drawn returns a sample of two classes whose calibrated probabilities say little: few rows are predicted as
// the second, whose shares are these.
func drawn(t *testing.T, r *rand.Rand, n, m int, inSource, inTarget float64) *weightest.Sample {
	t.Helper()
	rows := func(n int, share float64) (p []float64, labels []int) {
		for range n {
			y, x := 0, r.NormFloat64()
			if r.Float64() < share {
				y, x = 1, x+1
			}
			second := 1 / (1 + math.Exp(0.5-x)*(1-inSource)/inSource)
			p, labels = append(p, 1-second, second), append(labels, y)
		}
		return p, labels
	}
	source, labels := rows(n, inSource)
	target, _ := rows(m, inTarget)
	return sampletest.Of(t)(2, source, labels, target)
}

// Of two classes T² is the square of Student's t of two samples with a common variance.
func TestMeansOfTwoClasses(t *testing.T) {
	s := drawn(t, rand.New(rand.NewPCG(1, 1)), 30, 50, 0.3, 0.4)
	of := func(p []float64) (second []float64) {
		for i := 1; i < len(p); i += 2 {
			second = append(second, p[i])
		}
		return second
	}
	source, _ := s.Source()
	a, b := of(source), of(s.Target())
	pooled := (29*stat.Variance(a, nil) + 49*stat.Variance(b, nil)) / 78
	want := (stat.Mean(a, nil) - stat.Mean(b, nil)) / math.Sqrt(pooled*(1./30+1./50))
	got, err := MeansTest(s)
	p := 2 * distuv.StudentsT{Sigma: 1, Nu: 78}.Survival(math.Abs(want))
	if err != nil || got.DegreesOfFreedom != 1 || math.Abs(got.Statistic-want*want) > 1e-9 || math.Abs(got.P-p) > 1e-9 {
		t.Errorf("%+v, %v; want %v, p = %v", got, err, want*want, p)
	}
}

// It rejects as often as it says without a change, and sees one that predicted classes hardly show.
func TestMeansRejects(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	const draws = 1000
	rejects := func(inTarget float64) (means, counts int) {
		for range draws {
			s := drawn(t, r, 150, 150, 0.1, inTarget)
			m := must.Have(MeansTest(s))(t)
			c := must.Have(ChiSquaredTest(s.Sums()))(t)
			if m.P < 0.05 {
				means++
			}
			if c.P < 0.05 {
				counts++
			}
		}
		return means, counts
	}
	if means, _ := rejects(0.1); means < 30 || means > 75 {
		t.Errorf("without a change %d of %d rejected", means, draws)
	}
	if means, counts := rejects(0.4); means < 600 || counts > 200 {
		t.Errorf("a change is seen %d times of %d, by predicted classes %d times", means, draws, counts)
	}
}

// Probabilities that never change say nothing.
func TestMeansOfConstants(t *testing.T) {
	s := sampletest.Of(t)(2, []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, []int{0, 1, 0}, []float64{0.5, 0.5, 0.5, 0.5})
	if m, err := MeansTest(s); err != nil || m.P != 1 || m.DegreesOfFreedom != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := MeansTest(sampletest.Of(t)(2, []float64{0.2, 0.8}, []int{0}, []float64{0.5, 0.5, 0.1, 0.9})); err != nil || m.P != 1 {
		t.Errorf("one row: %+v, %v", m, err)
	}
	if _, err := MeansTest(sampletest.Of(t)(2, []float64{0.5, 0.5}, []int{0}, nil)); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("no target row: %v", err)
	}
}
