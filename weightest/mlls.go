package weightest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/evenly"
)

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
// takes Newton steps on the simplex, each by the method of QP on the
// quadratic model, or by conjugate gradients of more than MostDense classes with
// pseudocounts, until q is optimal up to rounding: the factors by which a step of EM would
// multiply it, the gradient of the mean log-likelihood,
//
//	(1/m) Σ_x (f_y(x)/p_y) / Σ_z w_z f_z(x),
//
// are 1 for every y with q_y > 0 and at most 1 for the others.
//
// The weights have w·p = 1.
// A class whose prior and whose mean prediction on the target are both 0 gets weight 0.
type MLLS struct {
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

// Estimate returns the weights. The error wraps ErrInvalidProblem, which also says that p has
// no rows, or one that is none, ErrMissingClass with the number of a class whose prior is 0
// while the target's rows predict it, or ErrNoConvergence. Estimate panics unless the length of
// the prior is k.
func (e MLLS) Estimate(p Problem) (Estimate, error) {
	s, m, err := e.solve(p)
	if err != nil {
		return Estimate{}, err
	}
	estimate := m.estimate(s)
	if err := p.requireEveryClass(); err != nil {
		estimate.Warning = fmt.Sprintf("%v: its weight rests on what the classifier makes of rows of other classes", err)
	}
	return estimate, nil
}

// solve returns the likelihood with the state at its maximum.
func (e MLLS) solve(p Problem) (mixtureState, *mixture, error) {
	prior, err := e.prior(p)
	if err != nil {
		return mixtureState{}, nil, err
	}
	for j, mass := range prior {
		if mass == 0 && p.TargetPredictions[j] > 0 {
			return mixtureState{}, nil, fmt.Errorf("%w: class %d has prior 0 in MLLS, and the target's rows predict it", ErrMissingClass, j)
		}
	}
	floats.Scale(1/floats.Sum(prior), prior)
	m := newMixture(p.Rows, e.Pseudocount, prior)
	s, err := m.maximise()
	if err != nil {
		return mixtureState{}, nil, cmp.Or(p.Rows.checkValues(p.Classes()), err)
	}
	return s, m, nil
}

// Equations returns the mean of the source rows' f_j/p_j in each class (row = class, column = j): shares q and
// r are as likely if Σ_j f_j (q_j - r_j)/p_j = 0 in each row. What the classifier can tell apart the source's
// rows say, as few of the target's never could of many classes. If a class has no row there, it is the
// curvature of the likelihood of the target's rows.
func (e MLLS) Equations(p Problem) (*mat.Dense, error) {
	prior, err := e.prior(p)
	if err != nil {
		return nil, err
	}
	if p.requireEveryClass() == nil {
		equations := mat.DenseCopyOf(p.Confusion.T())
		equations.Apply(func(y, j int, joint float64) float64 {
			return joint / p.SourceDistribution[y] / max(prior[j], math.SmallestNonzeroFloat32)
		}, equations)
		return equations, nil
	}
	m := newMixture(p.Rows, 0, prior)
	return mat.DenseCopyOf(m.curvatureAt(evenly.Pick(prior, m.classes))), nil
}

// prior checks the problem and returns p, up to a factor.
func (e MLLS) prior(p Problem) ([]float64, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if e.Prior != nil && len(e.Prior) != p.Classes() {
		panic(fmt.Sprintf("weightest: MLLS with a prior of %d classes instead of %d", len(e.Prior), p.Classes()))
	}
	if p.Rows == nil || len(p.Rows.Probabilities) == 0 {
		return nil, fmt.Errorf("%w: MLLS reads the target's rows, and there are none", ErrInvalidProblem)
	}
	if err := p.Rows.checkLengths(p.Classes()); err != nil {
		return nil, err
	}
	if e.Pseudocount < 0 {
		return nil, fmt.Errorf("weightest: the pseudocount of MLLS is %d; it must not be negative", e.Pseudocount)
	}
	prior := slices.Clone(e.Prior)
	if prior == nil {
		prior = meanPredictions(p)
	}
	return prior, validateDistribution("prior of MLLS", prior)
}

// checkLengths returns an error unless the parts of rows of k classes fit each other.
func (r *Rows) checkLengths(k int) error {
	m := len(r.Probabilities) / k
	if len(r.Probabilities) != m*k || r.Counts != nil && len(r.Counts) != m || r.Pseudocounts != nil && len(r.Pseudocounts) != k {
		return fmt.Errorf("%w: %d probabilities, %d counts and %d pseudocounts of rows of %d classes do not fit each other",
			ErrInvalidProblem, len(r.Probabilities), len(r.Counts), len(r.Pseudocounts), k)
	}
	return nil
}

// checkValues returns an error that names the first row of k classes from which nothing can be
// estimated.
func (r *Rows) checkValues(k int) error {
	for i := range len(r.Probabilities) / k {
		row := r.Probabilities[i*k : (i+1)*k]
		if j := firstInvalid(row); j >= 0 {
			return fmt.Errorf("%w: target row %d gives class %d the probability %v", ErrInvalidProblem, i, j, row[j])
		}
		if floats.Sum(row) == 0 {
			return fmt.Errorf("%w: target row %d has probability 0 in every class", ErrInvalidProblem, i)
		}
	}
	if r.Counts != nil && slices.Max(r.Counts) < 1 {
		return fmt.Errorf("%w: no target row counts", ErrInvalidProblem)
	}
	return nil
}

// eachClass returns one row for each class that has a prior, and how often they count: so many
// times, or as Pseudocounts say. There are none if that is 0.
func (r *Rows) eachClass(count int, prior []float64) (more, counts []float64) {
	if count <= 0 {
		return nil, nil
	}
	k := len(prior)
	for j, mass := range prior {
		if mass > 0 {
			row := make([]float64, k)
			row[j] = 1
			beside := float64(count)
			if r.Pseudocounts != nil {
				beside = r.Pseudocounts[j]
			}
			more, counts = append(more, row...), append(counts, beside)
		}
	}
	return more, counts
}

// meanPredictions returns the mean prediction on the source rows, length k.
func meanPredictions(p Problem) []float64 {
	mean := make([]float64, p.Classes())
	for i := range mean {
		mean[i] = floats.Sum(p.Confusion.RawRowView(i))
	}
	return mean
}
