package weightest

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/gaussians"
	"iwda/weightest/internal/weighttest"
)

func gaussianSample(t testing.TB, k, n, m int, seed uint64) *Sample {
	t.Helper()
	p, random := gaussians.Rising(k), rand.New(rand.NewPCG(seed, 1))
	source, labels := p.SourceRows(n, random)
	s, err := SampleOf(k, source, labels, p.TargetRows(m, random))
	if err != nil {
		t.Fatal(err)
	}
	return s
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
		"an absent class": {sampleOf(t)(weighttest.Golden(t, "absent").Rows()), false},
	} {
		for _, e := range []MLLS{{}, {Pseudocount: 1}} {
			fast, err := e.OnResamples(problem(t, c.sample))
			if err != nil {
				t.Fatal(err)
			}
			poisson := distuv.Poisson{Lambda: 1, Src: rand.NewPCG(8, 8)}
			sourceCounts, targetCounts := make([]int, len(c.sample.labels)), make([]int, len(c.sample.target)/c.sample.classes)
			for replica := range 30 {
				for _, counts := range [][]int{sourceCounts, targetCounts} {
					for i := range counts {
						counts[i] = int(poisson.Rand())
					}
				}
				p, err := countedProblem(c.sample, sourceCounts, targetCounts)
				if err != nil {
					t.Fatal(err)
				}
				want, err := e.Estimate(p)
				if err != nil {
					t.Fatal(err)
				}
				got, err := fast.Estimate(p)
				if err != nil {
					t.Fatal(err)
				}
				if !floats.EqualApprox(got.Weights, want.Weights, 1e-5) || !floats.EqualApprox(got.TargetDistribution, want.TargetDistribution, 1e-5) {
					t.Errorf("%s, replica %d: %v, want %v", name, replica, got, want)
				}
				prior := meanPredictions(p)
				floats.Scale(1/floats.Sum(prior), prior)
				r := fast.(*resampledMLLS)
				m, release := r.resampled(&Rows{Probabilities: c.sample.target, Counts: targetCounts}, prior)
				s, found := r.step(m)
				release()
				if c.step && !found {
					t.Errorf("%s, replica %d: the steps ended at a violation of %.2g", name, replica, s.violation)
				}
			}
		}
	}
}
