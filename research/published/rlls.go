package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest"
)

// rlls is the regularised estimator of Azizzadenesheli, Liu, Yang and Anandkumar
// (2019) on the predictions of p.Confusion and p.TargetPredictions: w = 1 + θ with
//
//	min ‖C θ - b‖ + ρ‖θ‖   s.t.   θ ≥ -1,      b = mu - C 1,
//	ρ = α·3(2L/(3n) + √(2L/n)),   L = ln(2k/δ),   α = 0.01, δ = 0.05,   n = p.SourceRows,
//
// scaled to w·D_S = 1. C 1 is the mean prediction on the source, for which others take
// D_S. The norms are not squared, so that the optimum is often θ = 0 exactly (where
// ‖Cᵀb‖ ≤ ρ‖b‖) or exactly C θ = b, BBSE without clipping.
type rlls struct{}

const (
	// rllsAlpha is α, what the bound is multiplied by: that of the released code's main script.
	rllsAlpha = 0.01
	// rllsDelta is δ: the bound holds with probability 1-δ.
	rllsDelta = 0.05
)

// Estimate returns the weights. The error wraps weightest.ErrInvalidProblem, which also says that p has
// no number of source rows, ErrMissingClass with the class's number if one has no source
// mass, ErrInfeasible if every weight is zero, or ErrNoConvergence.
func (rlls) Estimate(p weightest.Problem) (weightest.Estimate, error) {
	if err := p.Validate(); err != nil {
		return weightest.Estimate{}, err
	}
	if p.SourceRows < 1 {
		return weightest.Estimate{}, fmt.Errorf("%w: %d source rows; the bound of rlls needs their number", weightest.ErrInvalidProblem, p.SourceRows)
	}
	if j := slices.Index(p.SourceDistribution, 0); j >= 0 {
		return weightest.Estimate{}, fmt.Errorf("%w: class %d", weightest.ErrMissingClass, j)
	}
	s, err := solveCone(p.Confusion, unexplained(p), rllsRho(p.Classes(), p.SourceRows))
	if err != nil {
		return weightest.Estimate{}, err
	}
	w := slices.Clone(s.raw)
	total := floats.Dot(w, p.SourceDistribution)
	if !(total > 0) {
		return weightest.Estimate{}, fmt.Errorf("%w: every weight is zero", weightest.ErrInfeasible)
	}
	floats.Scale(1/total, w)
	estimate := weightest.Estimate{Weights: w, TargetDistribution: make([]float64, len(w)), Raw: s.raw}
	floats.MulTo(estimate.TargetDistribution, w, p.SourceDistribution)
	switch {
	case s.gap > 1e-8*s.objective+1e-14:
		estimate.Warning = fmt.Sprintf("the duality gap is %.3g of an objective of %.3g", s.gap, s.objective)
	case len(s.bounded) > 0:
		estimate.Warning = fmt.Sprintf("%d of %d weights are at their bound, zero", len(s.bounded), p.Classes())
	}
	return estimate, nil
}

// Equations returns the rates of predictions.
func (rlls) Equations(p weightest.Problem) (*mat.Dense, error) { return weightest.BBSE{}.Equations(p) }

// unexplained returns b = mu - C 1.
func unexplained(p weightest.Problem) []float64 {
	b := make([]float64, p.Classes())
	for i, mu := range p.TargetPredictions {
		b[i] = mu - floats.Sum(p.Confusion.RawRowView(i))
	}
	return b
}

// rllsRho returns ρ for k classes and n source rows.
func rllsRho(k, n int) float64 {
	l := math.Log(2 * float64(k) / rllsDelta)
	return rllsAlpha * 3 * (2*l/(3*float64(n)) + math.Sqrt(2*l/float64(n)))
}
