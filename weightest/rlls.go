package weightest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// RLLSSettings are the options of RLLS; the zero value is the paper's estimator.
type RLLSSettings struct {
	// Alpha is α, what the bound Δ is multiplied by; 0 means 0.01, that of the
	// released code's main script.
	Alpha float64
	// Delta is δ: the bound holds with probability 1-δ; 0 means 0.05.
	Delta float64
}

// RLLSSolution is what RLLS returns.
type RLLSSolution struct {
	// Weights are w = 1 + θ, length k, none negative. They are the paper's: w·D_S need
	// not be 1.
	Weights []float64
	Rho     float64 // ρ
	// Objective is ‖C θ - b‖ + ρ‖θ‖.
	Objective float64
	// DualityGap is the difference between Objective and a lower bound of the
	// objective of every feasible θ, from a point of the dual problem
	//
	//	max -u·b - Σ_j z_j   s.t.   ‖u‖ ≤ 1, z ≥ 0, ‖Cᵀu - z‖ ≤ ρ.
	//
	// It is 0 up to rounding at the optimum.
	DualityGap float64
	// Bounded are the classes with w_j = 0, in rising order.
	Bounded []int
}

// RLLS is the regularised estimator of Azizzadenesheli, Liu, Yang and Anandkumar
// (2019) on the predictions of p.Confusion and p.TargetPredictions: w = 1 + θ with
//
//	min ‖C θ - b‖ + ρ‖θ‖   s.t.   θ ≥ -1,      b = mu - C 1,
//	ρ = α·3(2L/(3n) + √(2L/n)),   L = ln(2k/δ),   n = p.SourceRows.
//
// C 1 is the mean prediction on the source, for which others take D_S. The norms are
// not squared, so that the optimum is often θ = 0 exactly (where ‖Cᵀb‖ ≤ ρ‖b‖) or
// exactly C θ = b, BBSE without clipping.
//
// The error wraps ErrInvalidProblem, which also says that p has no number of source
// rows, ErrMissingClass with the class's number where one has no source mass, or
// ErrNoConvergence.
func RLLS(p Problem, settings RLLSSettings) (RLLSSolution, error) {
	if err := p.Validate(); err != nil {
		return RLLSSolution{}, err
	}
	if p.SourceRows < 1 {
		return RLLSSolution{}, fmt.Errorf("%w: %d source rows; the bound of RLLS needs their number", ErrInvalidProblem, p.SourceRows)
	}
	if err := p.requireEveryClass(); err != nil {
		return RLLSSolution{}, err
	}
	rho, err := settings.rho(p.Classes(), p.SourceRows)
	if err != nil {
		return RLLSSolution{}, err
	}
	b := make([]float64, p.Classes())
	for i, mu := range p.TargetPredictions {
		b[i] = mu - floats.Sum(p.Confusion.RawRowView(i))
	}
	return solveCone(p.Confusion, b, rho)
}

func (s RLLSSettings) rho(k, n int) (float64, error) {
	if s.Alpha == 0 {
		s.Alpha = 0.01
	}
	if s.Delta == 0 {
		s.Delta = 0.05
	}
	if !(s.Alpha > 0) || !(s.Delta > 0 && s.Delta < 1) {
		return 0, fmt.Errorf("weightest: RLLS with α = %v and δ = %v; α must be positive, δ between 0 and 1", s.Alpha, s.Delta)
	}
	l := math.Log(2 * float64(k) / s.Delta)
	return s.Alpha * 3 * (2*l/(3*float64(n)) + math.Sqrt(2*l/float64(n))), nil
}

type rlls struct{}

func (rlls) Estimate(p Problem) (Estimate, error) {
	s, err := RLLS(p, RLLSSettings{})
	if err != nil {
		return Estimate{}, err
	}
	total := floats.Dot(s.Weights, p.SourceDistribution)
	if !(total > 0) {
		return Estimate{}, fmt.Errorf("%w: every weight is zero", ErrInfeasible)
	}
	floats.Scale(1/total, s.Weights)
	estimate := estimateOf(s.Weights, p)
	estimate.Scale, estimate.Violation = 1/total, s.DualityGap
	switch {
	case s.DualityGap > 1e-8*s.Objective+1e-14:
		estimate.Warning = fmt.Sprintf("the duality gap is %.3g of an objective of %.3g", s.DualityGap, s.Objective)
	case len(s.Bounded) > 0:
		estimate.Warning = fmt.Sprintf("%d of %d weights are at their bound, zero", len(s.Bounded), p.Classes())
	}
	return estimate, nil
}
