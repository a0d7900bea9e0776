package weightest

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Count takes the shares of the predictions for those of the classes:
//
//	q = mu,   w_j = q_j / D_S[j].
//
// On hard predictions, p.OnHard(), this is "classify and count", on soft ones
// "probabilistic classify and count" (Forman 2008; Bella et al. 2010). Its error does
// not vanish with the number of rows: it stands here to compare with.
type Count struct{}

// Estimate returns the estimate. The error wraps ErrInvalidProblem, or ErrMissingClass with
// the number of a class that is predicted and has no source mass.
func (Count) Estimate(p Problem) (Estimate, error) {
	if err := p.Validate(); err != nil {
		return Estimate{}, err
	}
	total := floats.Sum(p.TargetPredictions)
	if !(total > 0) {
		return Estimate{}, fmt.Errorf("%w: the target predictions are zero in every class", ErrInvalidProblem)
	}
	q := slices.Clone(p.TargetPredictions)
	floats.Scale(1/total, q)
	return estimateOfTarget(q, p)
}

// Equations returns nil: there is nothing to solve.
func (Count) Equations(Problem) (*mat.Dense, error) { return nil, nil }

// estimateOfTarget returns the estimate of the target's label distribution q.
func estimateOfTarget(q []float64, p Problem) (Estimate, error) {
	if j := missing(q, p.SourceDistribution); j >= 0 {
		return Estimate{}, fmt.Errorf("%w: class %d", ErrMissingClass, j)
	}
	return Estimate{Weights: Ratios(q, p.SourceDistribution), TargetDistribution: q}, nil
}

// AdjustedCount corrects the shares of the predictions for the rates at which the
// classes are predicted as one another,
//
//	min ‖M q - mu‖²   s.t.   q ≥ 0, Σ_j q_j = 1,     M[i][j] = C[i][j] / D_S[j],
//	w_j = q_j / D_S[j],
//
// M[i][j] being P_S(prediction = i | y = j). On hard predictions, p.OnHard(), this is
// "adjusted classify and count" (Forman 2008), on soft ones its probabilistic form
// (Bella et al. 2010), with the constraint in the place of clipping. It is BBSE in
// other variables where C⁻¹mu is not negative.
//
// Violation is that of QP.
type AdjustedCount struct{}

// Equations returns the rates of predictions.
func (AdjustedCount) Equations(p Problem) (*mat.Dense, error) { return ratesOf(p) }

// Estimate returns the estimate. The error wraps ErrInvalidProblem, ErrMissingClass with
// the class's number where one has no source mass, or ErrNoConvergence.
func (AdjustedCount) Estimate(p Problem) (Estimate, error) {
	if err := p.Validate(); err != nil {
		return Estimate{}, err
	}
	if err := p.requireEveryClass(); err != nil {
		return Estimate{}, err
	}
	var rates mat.Dense
	rates.Apply(func(_, j int, joint float64) float64 { return joint / p.SourceDistribution[j] }, p.Confusion)
	ones := slices.Repeat([]float64{1}, p.Classes())
	solution, err := QP{}.Solve(Problem{Confusion: &rates, TargetPredictions: p.TargetPredictions, SourceDistribution: ones})
	if err != nil {
		return Estimate{}, err
	}
	estimate, err := estimateOfTarget(solution.Weights, p)
	estimate.Violation = solution.Violation
	if largest, smallest := singularValues(&rates); !(largest <= illConditioned*smallest) {
		estimate.Warning = fmt.Sprintf("the rates of predictions have condition number %.3g: other shares explain the predictions nearly as well", largest/smallest)
	}
	return estimate, err
}
