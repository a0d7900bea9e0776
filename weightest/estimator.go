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

// Estimator computes class weights from C, mu and D_S. Anything that implements it
// can take the place of the estimators of this package. Estimate must not change the
// problem, nor keep it.
type Estimator interface {
	Estimate(Problem) (Estimate, error)
}

// Estimate is what an Estimator returns.
type Estimate struct {
	Weights []float64 // w, length k, not negative, w·D_S = 1
	Warning string    // what to know before relying on the weights; empty where nothing is
}

// estimators are the estimators of this package in the order of EstimatorNames.
var estimators = []struct {
	name      string
	estimator Estimator
}{
	{"qp", quadratic{LeastSquares}},
	{"qp-released", quadratic{Released}},
	{"inverse", inverse{}},
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
	return nil, fmt.Errorf("weightest: no estimator %q; there are %s", name, strings.Join(EstimatorNames(), ", "))
}

type quadratic struct{ rightHandSide RightHandSide }

func (q quadratic) Estimate(p Problem) (Estimate, error) {
	solution, err := SolveQP(p, QPSettings{RightHandSide: q.rightHandSide})
	return Estimate{Weights: solution.Weights}, err
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
	return Estimate{Weights: w, Warning: warning}, nil
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
