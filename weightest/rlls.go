package weightest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// RLLS is the regularised estimator of Azizzadenesheli, Liu, Yang and Anandkumar
// (2019) on the predictions of p.Confusion and p.TargetPredictions: w = 1 + θ with
//
//	min ‖C θ - b‖ + ρ‖θ‖   s.t.   θ ≥ -1,      b = mu - C 1,
//	ρ = α·3(2L/(3n) + √(2L/n)),   L = ln(2k/δ),   n = p.SourceRows,
//
// scaled to w·D_S = 1. C 1 is the mean prediction on the source, for which others take
// D_S. The norms are not squared, so that the optimum is often θ = 0 exactly (where
// ‖Cᵀb‖ ≤ ρ‖b‖) or exactly C θ = b, BBSE without clipping. The zero value is the paper's
// estimator.
type RLLS struct {
	// Alpha is α, what the bound Δ is multiplied by; 0 means 0.01, that of the
	// released code's main script.
	Alpha float64
	// Delta is δ: the bound holds with probability 1-δ; 0 means 0.05.
	Delta float64
}

// RLLSSolution is the estimate of RLLS: its weights are Raw times Scale. Violation is the
// duality gap: the difference between Objective and a lower bound of the objective of every
// feasible θ, from a point of the dual problem
//
//	max -u·b - Σ_j z_j   s.t.   ‖u‖ ≤ 1, z ≥ 0, ‖Cᵀu - z‖ ≤ ρ.
//
// It is 0 up to rounding at the optimum.
type RLLSSolution struct {
	Estimate
	// Raw are the paper's weights 1 + θ, length k, none negative; Raw·D_S need not be 1.
	Raw       []float64
	Rho       float64 // ρ
	Objective float64 // ‖C θ - b‖ + ρ‖θ‖
	Bounded   []int   // the classes with w_j = 0, in rising order
}

// Estimate returns the solution's estimate.
func (e RLLS) Estimate(p Problem) (Estimate, error) {
	s, err := e.Solve(p)
	return s.Estimate, err
}

// Equations returns the rates of predictions.
func (RLLS) Equations(p Problem) (*mat.Dense, error) { return ratesOf(p) }

// Solve returns the estimate with what it follows from. The error wraps ErrInvalidProblem,
// which also says that p has no number of source rows, ErrMissingClass with the class's
// number where one has no source mass, ErrInfeasible where every weight is zero, or
// ErrNoConvergence.
func (e RLLS) Solve(p Problem) (RLLSSolution, error) {
	if err := p.Validate(); err != nil {
		return RLLSSolution{}, err
	}
	if p.SourceRows < 1 {
		return RLLSSolution{}, fmt.Errorf("%w: %d source rows; the bound of RLLS needs their number", ErrInvalidProblem, p.SourceRows)
	}
	if err := p.requireEveryClass(); err != nil {
		return RLLSSolution{}, err
	}
	rho, err := e.rho(p.Classes(), p.SourceRows)
	if err != nil {
		return RLLSSolution{}, err
	}
	b := make([]float64, p.Classes())
	for i, mu := range p.TargetPredictions {
		b[i] = mu - floats.Sum(p.Confusion.RawRowView(i))
	}
	s, err := solveCone(p.Confusion, b, rho)
	if err != nil {
		return RLLSSolution{}, err
	}
	w := slices.Clone(s.Raw)
	total := floats.Dot(w, p.SourceDistribution)
	if !(total > 0) {
		return RLLSSolution{}, fmt.Errorf("%w: every weight is zero", ErrInfeasible)
	}
	floats.Scale(1/total, w)
	gap := s.Violation
	s.Estimate = estimateOf(w, p)
	s.Scale, s.Violation = 1/total, gap
	switch {
	case gap > 1e-8*s.Objective+1e-14:
		s.Warning = fmt.Sprintf("the duality gap is %.3g of an objective of %.3g", gap, s.Objective)
	case len(s.Bounded) > 0:
		s.Warning = fmt.Sprintf("%d of %d weights are at their bound, zero", len(s.Bounded), p.Classes())
	}
	return s, nil
}

func (e RLLS) rho(k, n int) (float64, error) {
	if e.Alpha == 0 {
		e.Alpha = 0.01
	}
	if e.Delta == 0 {
		e.Delta = 0.05
	}
	if !(e.Alpha > 0) || !(e.Delta > 0 && e.Delta < 1) {
		return 0, fmt.Errorf("weightest: RLLS with α = %v and δ = %v; α must be positive, δ between 0 and 1", e.Alpha, e.Delta)
	}
	l := math.Log(2 * float64(k) / e.Delta)
	return e.Alpha * 3 * (2*l/(3*float64(n)) + math.Sqrt(2*l/float64(n))), nil
}
