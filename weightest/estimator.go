package weightest

import (
	"fmt"
	"math"
	"slices"
	"strings"

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

// Resampler is an Estimator with a faster way to the estimates of a problem's resamples,
// which differ from it by how often rows count. OnResamples returns an estimator of those,
// for use by many goroutines at the same time: its estimates are the Resampler's to within
// far less than what one resample differs from another. The error is that of the Resampler
// on the problem itself.
type Resampler interface {
	Estimator
	OnResamples(Problem) (Estimator, error)
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
	// BBSE's linear system, whose entries may be negative, and RLLS's 1 + θ. The others have
	// none: nil.
	Raw     []float64
	Warning string // what to know before relying on the weights; empty where nothing is
}

// named is an estimator with what is known of it by its name.
type named struct {
	name      string
	estimator Estimator
	rows      bool // see ReadsRows
	about     string
}

// estimators are the estimators of this package in the order of EstimatorNames.
var estimators = []named{
	{"qp", QP{}, false, "the quadratic program of the paper: min ‖mu - C w‖² for w ≥ 0 with w·D_S = 1 (Tachet des Combes et al. 2020)"},
	{"bbse-hard", Hard{BBSE{}}, false, "black-box shift estimation on predicted classes: w = C⁻¹ mu, negative weights set to 0 (Lipton, Wang and Smola 2018)"},
	{"bbse-soft", BBSE{}, false, "the same on predicted probabilities"},
	{"rlls-hard", Hard{RLLS{}}, false, "regularised learning under label shift on predicted classes: weights drawn towards 1 (Azizzadenesheli et al. 2019)"},
	{"rlls-soft", RLLS{}, false, "the same on predicted probabilities"},
	{"mlls", MLLS{}, true, "maximum likelihood of the target's calibrated probabilities (Saerens et al. 2002, Alexandari et al. 2020)"},
}

// gone are the estimators of counts that there were up to version 0.3.0, with what took their
// place; research/labelshift.md has the comparison.
var gone = map[string]string{"cc": "bbse-hard", "pcc": "bbse-soft", "acc": "bbse-hard", "pacc": "bbse-soft"}

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

// EstimatorNames returns the names that NewEstimator knows.
func EstimatorNames() []string {
	names := make([]string, len(estimators))
	for i, e := range estimators {
		names[i] = e.name
	}
	return names
}

// NewEstimator returns the estimator of the name with the settings that were published;
// AboutEstimator says what each is. An unknown name is an error that lists these, or says what
// took the place of one that is gone.
func NewEstimator(name string) (Estimator, error) {
	e, err := find(name)
	return e.estimator, err
}

// ReadsRows reports whether the estimator of the name needs the problem of a Sample, as it reads
// the target's rows themselves; the others need that of Sums. An unknown name is the error of
// NewEstimator.
func ReadsRows(name string) (bool, error) {
	e, err := find(name)
	return e.rows, err
}

// AboutEstimator says in a line what the estimator of the name does. An unknown name is the
// error of NewEstimator.
func AboutEstimator(name string) (string, error) {
	e, err := find(name)
	return e.about, err
}

// find returns the estimator of the name.
func find(name string) (named, error) {
	if i := slices.IndexFunc(estimators, func(e named) bool { return e.name == name }); i >= 0 {
		return estimators[i], nil
	}
	if now, is := gone[name]; is {
		return named{}, fmt.Errorf("weightest: estimator %s is gone since version 0.4.0; %s is in its place", name, now)
	}
	return named{}, fmt.Errorf("weightest: no estimator %q; there are %s", name, strings.Join(EstimatorNames(), ", "))
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
