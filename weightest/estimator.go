package weightest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/internal/convert"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Estimator computes class weights from a Problem. It is a value that carries its
// settings, the zero value those that were published. Anything that implements it can take
// the place of the estimators of this package. No method may change the problem, nor keep it.
type Estimator interface {
	Estimate(Problem) (Estimate, error)
	// Equations returns the left side of the equations A q = b from which the estimate of
	// the target's distribution q follows, any number×k, or another matrix with the same
	// kernel; columns of any length. It is nil for an estimate that solves no equations.
	// See Ambiguity.
	Equations(Problem) (*mat.Dense, error)
}

// Estimate is what an Estimator returns.
type Estimate struct {
	// Weights are w, length k, not negative, w·D_S = 1. MLLS has its own source
	// distribution, see there.
	Weights []float64
	// TargetDistribution is q, length k, the estimate of the target's label
	// distribution: q_j = w_j D_S[j].
	TargetDistribution []float64
	// Raw are the weights before they were scaled to w·D_S = 1, length k: the solution of
	// BBSE's linear system, whose entries may be negative. The others have none: nil.
	Raw     []float64
	Warning string // what to know before relying on the weights; empty if nothing is
}

// Named is an estimator of this package with what is known of it by its name.
type Named struct {
	Name      string
	Estimator Estimator // with the settings that were published
	Rows      bool      // it reads the target's rows, and needs the Problem of a Sample, not of Sums
	About     string    // what it does, in a line
}

var estimators = []Named{
	{"qp", QP{}, false, "the quadratic program of the paper: min ‖mu - C w‖² for w ≥ 0 with w·D_S = 1 (Tachet des Combes et al. 2020)"},
	{"bbse-hard", Hard{BBSE{}}, false, "black-box shift estimation on predicted classes: w = C⁻¹ mu, negative weights set to 0 (Lipton, Wang and Smola 2018)"},
	{"bbse-soft", BBSE{}, false, "the same on predicted probabilities"},
	{"mlls", MLLS{}, true, "maximum likelihood of the target's calibrated probabilities (Saerens et al. 2002, Alexandari et al. 2020)"},
}

// Hard is an estimator on hard predictions: on p.OnHard() in the place of p.
type Hard struct{ Estimator }

// Estimate returns the estimate of hard predictions.
func (h Hard) Estimate(p Problem) (Estimate, error) {
	p, err := p.OnHard()
	if err != nil {
		return Estimate{}, err
	}
	return h.Estimator.Estimate(p)
}

// Equations returns those of hard predictions.
func (h Hard) Equations(p Problem) (*mat.Dense, error) {
	p, err := p.OnHard()
	if err != nil {
		return nil, err
	}
	return h.Estimator.Equations(p)
}

// Estimators returns the estimators of this package.
func Estimators() []Named { return slices.Clone(estimators) }

// EstimatorNames returns their names, in their order.
func EstimatorNames() []string {
	return convert.Each(estimators, func(e Named) string { return e.Name })
}

// Find returns the estimator of the name. An unknown name is an error that lists all.
func Find(name string) (Named, error) {
	if i := slices.IndexFunc(estimators, func(e Named) bool { return e.Name == name }); i >= 0 {
		return estimators[i], nil
	}
	return Named{}, fmt.Errorf("weightest: no estimator %q; there are %s", name, strings.Join(EstimatorNames(), ", "))
}

// NewEstimator returns the Estimator that Find finds.
func NewEstimator(name string) (Estimator, error) {
	e, err := Find(name)
	return e.Estimator, err
}

// estimateOf returns the estimate of weights with w·D_S = 1.
func estimateOf(w []float64, p Problem) Estimate {
	q := make([]float64, len(w))
	floats.MulTo(q, w, p.SourceDistribution)
	return Estimate{Weights: w, TargetDistribution: q}
}

// epsilon is the unit of rounding of float64.
const epsilon = 0x1p-53

// smallestSingularValue returns that of C, and NaN where it cannot be computed.
func smallestSingularValue(c *mat.Dense) float64 {
	var svd mat.SVD
	if !svd.Factorize(c, mat.SVDNone) {
		return math.NaN()
	}
	return slices.Min(svd.Values(nil))
}
