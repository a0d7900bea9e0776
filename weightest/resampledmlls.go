package weightest

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// resampledViolation is a violation of MLLS's conditions that is far below what one
	// resample differs from another.
	resampledViolation = 1e-7
	// resampledSteps bounds the steps with the sample's curvature: with it each divides the
	// violation by some √n/k.
	resampledSteps = 12
	// severalCores is the number of rows from which on a resample is worked on by all
	// processors: there are then few at the same time.
	severalCores = 100_000
)

// resampledMLLS is MLLS on the resamples of a sample, which differ from it by how often
// rows count, by the prior, and by the calibration of the rows. From the sample's own optimum
// a few steps with its own curvature lead to theirs.
type resampledMLLS struct {
	MLLS
	weights   []float64     // the sample's own optimum
	curvature *mat.SymDense // the negative Hessian by the weights
}

// OnResamples returns MLLS for the resamples of the problem; see Resampler.
func (e MLLS) OnResamples(p Problem) (Estimator, error) {
	s, m, err := e.solve(p)
	if err != nil {
		return nil, err
	}
	return &resampledMLLS{e, m.estimate(s).Weights, byWeights(m.curvatureAt(s.q), m.prior)}, nil
}

func (r *resampledMLLS) Estimate(p Problem) (Estimate, error) {
	prior, err := r.prior(p)
	if err != nil {
		return Estimate{}, err
	}
	floats.Scale(1/floats.Sum(prior), prior)
	if floats.Min(prior) > 0 {
		m := newMixture(p.Rows, r.Pseudocount, prior)
		m.rows.Alone = m.rows.Rows < severalCores
		s, found := r.step(m)
		if !found {
			s, _, err = m.climb(interior(s.q), resampledViolation)
			found = err == nil && s.violation <= resampledViolation
		}
		if found {
			w := make([]float64, len(prior))
			floats.DivTo(w, s.q, prior)
			return Estimate{Weights: w, TargetDistribution: s.q}, nil
		}
	}
	return r.MLLS.Estimate(p)
}

// step takes Newton steps, the first with the sample's curvature and the others with that
// of the resample once steps no longer divide the violation by ten. It reports whether they
// led to the optimum; they end where even then a step does not halve the violation. With
// g_w the gradient by the weights and H the curvature, both of the free classes, a step is
//
//	d = H⁻¹(g_w - λ prior),   λ such that d·prior = 0.
//
// A class whose share would become negative loses it and is free no longer; the one whose
// gradient violates the conditions most is again.
func (r *resampledMLLS) step(m *mixture) (mixtureState, bool) {
	q := make([]float64, len(m.prior))
	floats.MulTo(q, r.weights, m.prior)
	floats.Scale(1/floats.Sum(q), q)
	s := m.differentiate(q)
	curvature, own := r.curvature, false
	var model *newtonModel
	for steps := 0; s.violation > resampledViolation && steps < resampledSteps; steps++ {
		if model == nil {
			if model = newNewtonModel(freeClasses(s), m.prior, curvature); model == nil {
				break
			}
		}
		q, left := model.step(s)
		next := m.differentiate(q)
		if slow := next.violation > s.violation/10; slow || left || !model.has(next) {
			if model = nil; slow && own && !left && !(next.violation < s.violation/2) {
				break
			}
			if slow {
				curvature, own = byWeights(m.curvature(), m.prior), true
			}
		}
		s = next
	}
	return s, s.violation <= resampledViolation
}
