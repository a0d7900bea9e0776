package weightest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/gaussians"
	"iwda/internal/must"
)

func gaussianSample(t testing.TB, k, n, m int, seed uint64) *Sample {
	t.Helper()
	p, random := gaussians.Rising(k), rand.New(rand.NewPCG(seed, 1))
	source, labels := p.SourceRows(n, random)
	return must.Have(SampleOf(k, source, labels, p.TargetRows(m, random)))(t)
}

// TestResampledMLLSReachesTheMaximum compares with MLLS itself on the resamples of a sample
// whose own curvature leads to them, and of some where most need another way.
func TestResampledMLLSReachesTheMaximum(t *testing.T) {
	for name, c := range map[string]struct {
		sample *Sample
		step   bool // leads to the optimum
	}{
		"many rows":       {gaussianSample(t, 5, 4000, 3000, 4), true},
		"few rows":        {gaussianSample(t, 5, 100, 50, 4), false},
		"an absent class": {sampleOf(t)(goldenNamed(t, "absent").Rows()), false},
	} {
		for _, e := range []MLLS{{}, {Pseudocount: 1}} {
			fast := must.Have(e.OnResamples(problem(t, c.sample)))(t)
			poisson := distuv.Poisson{Lambda: 1, Src: rand.NewPCG(8, 8)}
			sourceCounts, targetCounts := make([]int, len(c.sample.labels)), make([]int, len(c.sample.target)/c.sample.classes)
			for replica := range 30 {
				for _, counts := range [][]int{sourceCounts, targetCounts} {
					for i := range counts {
						counts[i] = int(poisson.Rand())
					}
				}
				p := must.Have(countedProblem(c.sample, sourceCounts, targetCounts))(t)
				want := must.Have(e.Estimate(p))(t)
				got := must.Have(fast.Estimate(p))(t)
				if !floats.EqualApprox(got.Weights, want.Weights, 1e-5) || !floats.EqualApprox(got.TargetDistribution, want.TargetDistribution, 1e-5) {
					t.Errorf("%s, replica %d: %v, want %v", name, replica, got, want)
				}
				prior := meanPredictions(p)
				floats.Scale(1/floats.Sum(prior), prior)
				r := fast.(*resampledMLLS)
				s, found := r.step(newMixture(p.Rows, r.Pseudocount, prior))
				if c.step && !found {
					t.Errorf("%s, replica %d: the steps ended at a violation of %.2g", name, replica, s.violation)
				}
			}
		}
	}
}

// A problem is one of its own resamples: that in which every row counts once.
func TestResampledMLLSOfTheSample(t *testing.T) {
	p, e := problem(t, gaussianSample(t, 3, 200, 300, 5)), MLLS{Pseudocount: Laplace}
	fast := must.Have(e.OnResamples(p))(t)
	want := must.Have(e.Estimate(p))(t)
	for range 2 { // one resample has no part in the next
		got, err := fast.Estimate(p)
		if err != nil || !floats.EqualApprox(got.TargetDistribution, want.TargetDistribution, 1e-6) {
			t.Errorf("%v, want %v, %v", got.TargetDistribution, want.TargetDistribution, err)
		}
		counted := p
		counted.Rows = &Rows{Probabilities: p.Rows.Probabilities, Counts: slices.Repeat([]int{1}, 300), Pseudocounts: []int{0, 3, 0}}
		if want, err := e.Estimate(counted); err != nil {
			t.Error(err)
		} else if got, err := fast.Estimate(counted); err != nil || !floats.EqualApprox(got.TargetDistribution, want.TargetDistribution, 1e-6) {
			t.Errorf("with pseudocounts %v, want %v, %v", got.TargetDistribution, want.TargetDistribution, err)
		}
		// Rows that nothing counts count once.
		once := counted
		once.Rows = &Rows{Probabilities: p.Rows.Probabilities, Pseudocounts: counted.Rows.Pseudocounts}
		a, errA := e.Estimate(counted)
		b, errB := e.Estimate(once)
		if errA != nil || errB != nil || !floats.Equal(a.TargetDistribution, b.TargetDistribution) {
			t.Errorf("%v and %v, %v, %v", a.TargetDistribution, b.TargetDistribution, errA, errB)
		}
	}
}
