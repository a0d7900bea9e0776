package weightest

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ErrSingular is wrapped by the error of an estimator that needs C⁻¹ where C has
// none.
var ErrSingular = errors.New("weightest: the confusion matrix is singular")

// Estimator computes class weights from a Problem. Anything that implements it can
// take the place of the estimators of this package. Estimate must not change the
// problem, nor keep it.
type Estimator interface {
	Estimate(Problem) (Estimate, error)
}

// Estimate is what an Estimator returns.
type Estimate struct {
	Weights []float64 // w, length k, not negative, w·D_S = 1
	// TargetDistribution is q, length k, the estimate of the target's label
	// distribution: q_j = w_j D_S[j].
	TargetDistribution []float64
	Warning            string // what to know before relying on the weights; empty where nothing is
}

// Requirement says what an estimator needs of a Problem.
type Requirement int

const (
	// TrainingStatistics: C, mu and D_S, as an Accumulator collects them while a model
	// trains.
	TrainingStatistics Requirement = iota
	// HeldOutSums: the problem of Sums of held-out source rows and of target rows. The
	// predictions on rows that a classifier was trained on are better than those on
	// others, so that their C is not that of the target.
	HeldOutSums
	// HeldOutRows: the problem of a Sample of such rows, for an estimator that reads the
	// target's rows themselves.
	HeldOutRows
)

// estimators are the estimators of this package in the order of EstimatorNames.
var estimators = []struct {
	name      string
	estimator Estimator
	requires  Requirement
}{
	{"qp", quadratic{LeastSquares}, TrainingStatistics},
	{"qp-released", quadratic{Released}, TrainingStatistics},
	{"inverse", inverse{}, TrainingStatistics},
}

// EstimatorNames returns the names that NewEstimator knows.
func EstimatorNames() []string {
	names := make([]string, len(estimators))
	for i, e := range estimators {
		names[i] = e.name
	}
	return names
}

// NewEstimator returns the estimator of the name:
//
//   - qp: SolveQP, the paper's estimator;
//   - qp-released: SolveQP with the right-hand side of the released code;
//   - inverse: C⁻¹mu, negative entries set to zero, scaled to w·D_S = 1 (Lipton,
//     Wang and Smola 2018 without clipping). Its warning names C's condition number
//     in the 1-norm. A singular C is an error that wraps ErrSingular.
//
// An unknown name is an error that lists these.
func NewEstimator(name string) (Estimator, error) {
	for _, e := range estimators {
		if e.name == name {
			return e.estimator, nil
		}
	}
	return nil, unknownEstimator(name)
}

// RequirementOf returns what the estimator of the name needs. An unknown name is the
// error of NewEstimator.
func RequirementOf(name string) (Requirement, error) {
	for _, e := range estimators {
		if e.name == name {
			return e.requires, nil
		}
	}
	return 0, unknownEstimator(name)
}

func unknownEstimator(name string) error {
	return fmt.Errorf("weightest: no estimator %q; there are %s", name, strings.Join(EstimatorNames(), ", "))
}

type quadratic struct{ rightHandSide RightHandSide }

func (q quadratic) Estimate(p Problem) (Estimate, error) {
	solution, err := SolveQP(p, QPSettings{RightHandSide: q.rightHandSide})
	if err != nil {
		return Estimate{}, err
	}
	return estimateOf(solution.Weights, p), nil
}

// estimateOf returns the estimate of weights with w·D_S = 1.
func estimateOf(w []float64, p Problem) Estimate {
	q := make([]float64, len(w))
	floats.MulTo(q, w, p.SourceDistribution)
	return Estimate{Weights: w, TargetDistribution: q}
}

type inverse struct{}

func (inverse) Estimate(p Problem) (Estimate, error) {
	if err := p.Validate(); err != nil {
		return Estimate{}, err
	}
	var lu mat.LU
	lu.Factorize(p.Confusion)
	condition := lu.Cond()
	// The largest condition number with which the solution has a correct digit.
	if !(condition < 1/(2*epsilon)) {
		return Estimate{}, fmt.Errorf("%w: its condition number is %.3g", ErrSingular, condition)
	}
	var solution mat.VecDense
	mu := mat.NewVecDense(p.Classes(), p.TargetPredictions)
	// SolveVecTo's only error repeats the condition number.
	_ = lu.SolveVecTo(&solution, false, mu)
	w := solution.RawVector().Data
	clipped := 0
	for j, v := range w {
		if v < 0 {
			w[j] = 0
			clipped++
		}
	}
	total := floats.Dot(w, p.SourceDistribution)
	if !(total > 0) {
		return Estimate{}, fmt.Errorf("%w: every class of C⁻¹mu with source mass is zero or negative", ErrInfeasible)
	}
	floats.Scale(1/total, w)
	warning := fmt.Sprintf("C has condition number %.3g", condition)
	if clipped > 0 {
		warning += fmt.Sprintf("; %d of %d weights of C⁻¹mu were negative and set to zero", clipped, len(w))
	}
	estimate := estimateOf(w, p)
	estimate.Warning = warning
	return estimate, nil
}

// epsilon is the unit of rounding of float64.
const epsilon = 0x1p-53

// singularValues returns the largest and the smallest singular value of C, and NaN
// where they cannot be computed.
func singularValues(c *mat.Dense) (largest, smallest float64) {
	var svd mat.SVD
	if !svd.Factorize(c, mat.SVDNone) {
		return math.NaN(), math.NaN()
	}
	values := svd.Values(nil)
	return values[0], values[len(values)-1]
}
