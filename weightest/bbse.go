package weightest

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// BBSE is the black-box shift estimator of Lipton, Wang and Smola (2018): where P(x|y)
// is the same in both domains, mu = C w, so that
//
//	w = C⁻¹ mu,   negative entries set to zero, w scaled to w·D_S = 1,
//
// on the predictions of p.Confusion and p.TargetPredictions; those of p.OnHard() are
// the paper's. The zero value is the paper's estimator.
//
// Where C lacks rank, as it does where a class is never predicted, w is the shortest
// solution C⁺mu of min ‖C w - mu‖ (C⁺ the pseudo-inverse), and the warning says so.
//
// The paper's released code solves (CᵀC + λI) w = Cᵀmu with λ = 1/min(n, m), and neither clips nor scales:
// research/published has that.
type BBSE struct{}

// illConditioned is the condition number above which an estimate of 2,000 rows says
// little.
const illConditioned = 1e3

// Estimate returns the weights. The error wraps ErrInvalidProblem, ErrMissingClass with the
// class's number if one has no source mass, or ErrInfeasible if every weight is zero or
// negative.
func (BBSE) Estimate(p Problem) (Estimate, error) {
	if err := p.Validate(); err != nil {
		return Estimate{}, err
	}
	if err := p.requireEveryClass(); err != nil {
		return Estimate{}, err
	}
	raw, rank, condition, err := shortestSolution(p.Confusion, p.TargetPredictions)
	if err != nil {
		return Estimate{}, err
	}
	w := make([]float64, len(raw))
	clipped := 0
	for j, v := range raw {
		if v < 0 {
			clipped++
		} else {
			w[j] = v
		}
	}
	total := floats.Dot(w, p.SourceDistribution)
	if !(total > 0) {
		return Estimate{}, fmt.Errorf("%w: every class of C⁻¹mu with source mass is zero or negative", ErrInfeasible)
	}
	floats.Scale(1/total, w)
	var warnings []string
	switch {
	case rank < p.Classes():
		warnings = append(warnings, fmt.Sprintf("C has rank %d of %d: of all weights that explain the predictions these are the shortest", rank, p.Classes()))
	case condition > illConditioned:
		warnings = append(warnings, fmt.Sprintf("C has condition number %.3g", condition))
	}
	if clipped > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d weights were negative and set to zero, the others multiplied by %.3g",
			clipped, p.Classes(), 1/total))
	}
	estimate := estimateOf(w, p)
	estimate.Raw, estimate.Warning = raw, strings.Join(warnings, "; ")
	return estimate, nil
}

// Equations returns the rates of predictions.
func (BBSE) Equations(p Problem) (*mat.Dense, error) { return ratesOf(p) }

// shortestSolution returns the x with the least ‖C x - b‖, the shortest one, and C's rank and condition
// number.
func shortestSolution(c *mat.Dense, b []float64) (x []float64, rank int, condition float64, err error) {
	k := len(b)
	var svd mat.SVD
	if !svd.Factorize(c, mat.SVDThin) {
		return nil, 0, 0, fmt.Errorf("%w: C has no singular value decomposition", ErrNoConvergence)
	}
	const rounding = 2 * epsilon // share of the largest value, times k
	rank, condition = svd.Rank(rounding*float64(k)), math.Inf(1)
	if rank == 0 {
		return make([]float64, k), rank, condition, nil
	}
	if rank == k {
		condition = svd.Cond()
	}
	solution := mat.NewVecDense(k, nil)
	svd.SolveVecTo(solution, mat.NewVecDense(k, b), rank)
	return solution.RawVector().Data, rank, condition, nil
}
