package weightest

import "gonum.org/v1/gonum/floats"

// resampledViolation is a violation of MLLS's conditions that is far below what one
// resample differs from another.
const resampledViolation = 1e-7

// resampledMLLS is MLLS on the resamples of a sample: from the sample's own optimum few
// steps lead to theirs.
type resampledMLLS struct{ start []float64 }

func (r resampledMLLS) Estimate(p Problem) (Estimate, error) {
	prior := meanPredictions(p)
	floats.Scale(1/floats.Sum(prior), prior)
	if floats.Min(prior) > 0 {
		m := newMixture(p.Rows, prior)
		if s, _, err := m.climb(interior(r.start), resampledViolation); err == nil && s.violation <= resampledViolation {
			w := make([]float64, len(prior))
			floats.DivTo(w, s.q, prior)
			return Estimate{Weights: w, TargetDistribution: s.q, Violation: s.violation}, nil
		}
	}
	return mlls{}.Estimate(p)
}
