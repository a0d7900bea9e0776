package weightest

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// MLLSSettings are the options of MLLS; the zero value is what its comment describes.
type MLLSSettings struct {
	// Prior is the source distribution p, length k; nil means the mean prediction on
	// the held-out source rows.
	Prior []float64
	// Pseudocount is the number of rows of each class with a prior that count beside the
	// target's: the maximum is then that of the posterior density with a symmetric Dirichlet
	// prior of q, of parameter 1 + Pseudocount, and no such class has the share 0. 0 means
	// the likelihood alone.
	Pseudocount int
}

// Laplace is the pseudocount of Laplace's rule.
const Laplace = 1

// MLLSSolution is what MLLS returns.
type MLLSSolution struct {
	// Weights are w, length k: w_y = q_y/p_y, and w·p = 1.
	Weights            []float64
	TargetDistribution []float64 // q, length k
	Prior              []float64 // p, length k
	// LogLikelihood is the mean over the target's rows of log Σ_y w_y f_y(x).
	LogLikelihood float64
	// Factors are those by which a step of EM would multiply q, length k:
	//
	//	(1/m) Σ_x (f_y(x)/p_y) / Σ_z w_z f_z(x),
	//
	// the gradient of the mean log-likelihood. q is optimal where they are 1 for every
	// y with q_y > 0 and at most 1 for the others. A class without prior has 0.
	Factors []float64
	// Violation is the largest violation of that.
	Violation float64
	// Information is the Fisher information of a row, k×k: the negative Hessian of the
	// mean log-likelihood at q,
	//
	//	(1/m) Σ_x a(x) a(x)ᵀ / (a(x)·q)²,   a_y = f_y/p_y.
	Information *mat.SymDense
	// Iterations is the number of Newton steps.
	Iterations int
}

// MLLS maximises the likelihood of the target's rows under label shift (Saerens,
// Latinne and Decaestecker 2002; Alexandari, Kundaje and Shrikumar 2020),
//
//	max Σ_x log Σ_y f_y(x) q_y / p_y   s.t.   q ≥ 0, Σ_y q_y = 1,     w_y = q_y / p_y,
//
// over the rows of p.Rows, f being calibrated probabilities and p their mean over the
// held-out source rows: with it, and not with the labels' shares, target rows like
// those of the source give w = 1.
//
// The problem is concave. The published implementations run the EM algorithm,
// q_y ← mean of q_y f_y/p_y / Σ_z q_z f_z/p_z, and stop it where it still moves; this one
// takes Newton steps on the simplex, each by the active-set method of SolveQP on the
// quadratic model, until the conditions at Factors hold up to rounding.
//
// A class whose prior and whose mean prediction on the target are both 0 gets weight 0.
// The error wraps ErrInvalidProblem, which also says that p has no rows, ErrMissingClass
// with the number of a class whose prior is 0 while the target's rows predict it, or
// ErrNoConvergence. MLLS panics where the length of the prior is not k.
func MLLS(p Problem, settings MLLSSettings) (MLLSSolution, error) {
	if err := p.Validate(); err != nil {
		return MLLSSolution{}, err
	}
	k := p.Classes()
	if settings.Prior != nil && len(settings.Prior) != k {
		panic(fmt.Sprintf("weightest: MLLS with a prior of %d classes instead of %d", len(settings.Prior), k))
	}
	if p.Rows == nil || len(p.Rows.Probabilities) == 0 {
		return MLLSSolution{}, fmt.Errorf("%w: MLLS reads the target's rows, and there are none", ErrInvalidProblem)
	}
	prior := settings.Prior
	if prior == nil {
		prior = meanPredictions(p)
	}
	if err := validateDistribution("prior of MLLS", prior); err != nil {
		return MLLSSolution{}, err
	}
	prior = slices.Clone(prior)
	floats.Scale(1/floats.Sum(prior), prior)
	for j, mass := range prior {
		if mass == 0 && p.TargetPredictions[j] > 0 {
			return MLLSSolution{}, fmt.Errorf("%w: class %d has prior 0 in MLLS, and the target's rows predict it", ErrMissingClass, j)
		}
	}
	rows := p.Rows
	if settings.Pseudocount > 0 {
		rows = rows.withEachClass(settings.Pseudocount, prior)
	}
	return newMixture(rows, prior).maximise()
}

// withEachClass returns the rows with one more for each class that has a prior, which counts so
// many times.
func (r *Rows) withEachClass(count int, prior []float64) *Rows {
	k := len(prior)
	more := &Rows{Probabilities: slices.Clone(r.Probabilities), Counts: slices.Clone(r.Counts)}
	if more.Counts == nil {
		more.Counts = slices.Repeat([]int{1}, len(r.Probabilities)/k)
	}
	for j, mass := range prior {
		if mass > 0 {
			row := make([]float64, k)
			row[j] = 1
			more.Probabilities, more.Counts = append(more.Probabilities, row...), append(more.Counts, count)
		}
	}
	return more
}

// meanPredictions returns the mean prediction on the source rows, length k.
func meanPredictions(p Problem) []float64 {
	mean := make([]float64, p.Classes())
	for i := range mean {
		mean[i] = floats.Sum(p.Confusion.RawRowView(i))
	}
	return mean
}

type mlls struct{}

func (mlls) Estimate(p Problem) (Estimate, error) {
	s, err := MLLS(p, MLLSSettings{})
	if err != nil {
		return Estimate{}, err
	}
	estimate := Estimate{Weights: s.Weights, TargetDistribution: s.TargetDistribution, Violation: s.Violation}
	if err := p.requireEveryClass(); err != nil {
		estimate.Warning = fmt.Sprintf("%v: its weight rests on what the classifier makes of rows of other classes", err)
	}
	return estimate, nil
}
