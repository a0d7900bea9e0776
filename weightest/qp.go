package weightest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest/internal/simplex"
)

// QP is the estimator by the quadratic program
//
//	min ½‖mu - C w‖²   s.t.   w ≥ 0,  w·D_S = 1
//
// (Tachet des Combes, Zhao, Wang and Gordon 2020).
//
// C may have any rank: weights that are unique come out with the accuracy of a
// backward-stable method as long as the condition number of C, columns scaled to norm one,
// is below some 1e5; the objective is right without such a condition. Where several
// weights are optimal, the estimate is one of them, the same at every call.
//
// A class with neither source mass nor a column in C has no part in the problem and
// gets weight 0, the shortest choice.
//
// Written as min ½wᵀPw + q·w, the program has P = CᵀC and q = -Cᵀmu. The code that was
// released with the paper passes q = -C mu: another problem unless C is symmetric, which is
// not here.
type QP struct{}

// Estimate returns the weights. The error wraps ErrInvalidProblem, ErrInfeasible (see
// Problem.Validate) or ErrNoConvergence.
func (QP) Estimate(p Problem) (Estimate, error) {
	if err := p.Validate(); err != nil {
		return Estimate{}, err
	}
	w, err := simplex.Scale(p.Confusion, p.TargetPredictions, p.SourceDistribution).Solve()
	if err != nil {
		return Estimate{}, err
	}
	total := floats.Dot(w, p.SourceDistribution)
	if !(total > 0) || math.IsInf(total, 0) {
		return Estimate{}, fmt.Errorf("%w: the scales of C, mu and D_S are too far apart", ErrNoConvergence)
	}
	floats.Scale(1/total, w)
	return estimateOf(w, p), nil
}

// Equations returns the rates of predictions.
func (QP) Equations(p Problem) (*mat.Dense, error) { return ratesOf(p) }
