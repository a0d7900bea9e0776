package weightest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest/internal/simplex"
)

var (
	// ErrInvalidProblem is wrapped by every error that says that a Problem is not
	// one: sizes that do not fit each other, a value that is NaN, infinite or
	// negative.
	ErrInvalidProblem = errors.New("weightest: invalid problem")
	// ErrInfeasible says that no weights satisfy w·D_S = 1: the source distribution
	// is zero in every class, or in every class that an estimate does not clip.
	ErrInfeasible = errors.New("weightest: no weights satisfy w·D_S = 1")
	// ErrNoConvergence says that an iterative method used up its iterations, or that numbers
	// overflowed.
	ErrNoConvergence = simplex.ErrNoConvergence
	// ErrMissingClass says that nothing on the source rows tells how a class is
	// predicted: it has no row there or, for MLLS, no probability.
	ErrMissingClass = errors.New("weightest: a class is missing from the source rows")
)

// Problem is what every estimator of class weights reads; all fields are only read.
// An estimator that needs one of those after the first three returns ErrInvalidProblem where
// it is missing.
type Problem struct {
	// Confusion is C, k×k: row = predicted class, column = true class,
	// C[i][j] = P_S(prediction = i, label = j).
	Confusion *mat.Dense
	// TargetPredictions is mu, length k: mu[i] = P_T(prediction = i).
	TargetPredictions []float64
	// SourceDistribution is D_S, length k: the source's label distribution. It need
	// not sum to one, but for the weights to be ratios of probabilities.
	SourceDistribution []float64

	// Hard are C and mu of hard predictions; nil where they are not known.
	Hard *HardPredictions
	// SourceRows and TargetRows are the numbers of rows, n and m, that the means are
	// of; 0 where they are not known.
	SourceRows, TargetRows int
	// Rows are the target's rows; nil where only their sums were kept.
	Rows *Rows
}

// HardPredictions are C and mu where a prediction is the one-hot vector of a row's
// largest probability.
type HardPredictions struct {
	Confusion         *mat.Dense // k×k, row = predicted class, column = true class
	TargetPredictions []float64  // length k
}

// Rows are m rows of k probabilities.
type Rows struct {
	Probabilities []float64 // row-major m×k
	Counts        []int     // how often each row counts, length m, below 1 for not at all; nil: once
	// Pseudocounts are how often the row of each class that MLLS.Pseudocount adds counts in a
	// resample, length k; nil: as often as that says.
	Pseudocounts []float64
}

// Classes returns k.
func (p Problem) Classes() int { return len(p.SourceDistribution) }

// OnHard returns the problem of hard predictions: p with the C and mu of p.Hard. The
// error wraps ErrInvalidProblem where p has none.
func (p Problem) OnHard() (Problem, error) {
	if p.Hard == nil {
		return Problem{}, fmt.Errorf("%w: no hard predictions", ErrInvalidProblem)
	}
	p.Confusion, p.TargetPredictions = p.Hard.Confusion, p.Hard.TargetPredictions
	return p, nil
}

// requireEveryClass returns an error that wraps ErrMissingClass and names the class
// where a class has no source mass.
func (p Problem) requireEveryClass() error {
	if j := slices.Index(p.SourceDistribution, 0); j >= 0 {
		return fmt.Errorf("%w: class %d", ErrMissingClass, j)
	}
	return nil
}

// Validate returns nil where p has k ≥ 1 classes, a k×k confusion matrix, k target
// predictions and only finite values that are not negative, an error that wraps
// ErrInvalidProblem and names the first wrong value where it has not, and
// ErrInfeasible where the source distribution is zero in every class.
func (p Problem) Validate() error {
	k := p.Classes()
	if k == 0 {
		return fmt.Errorf("%w: the source distribution has no class", ErrInvalidProblem)
	}
	if p.Confusion == nil {
		return fmt.Errorf("%w: no confusion matrix", ErrInvalidProblem)
	}
	if rows, columns := p.Confusion.Dims(); rows != k || columns != k {
		return fmt.Errorf("%w: the confusion matrix is %d×%d, and the source distribution has %d classes",
			ErrInvalidProblem, rows, columns, k)
	}
	if len(p.TargetPredictions) != k {
		return fmt.Errorf("%w: %d target predictions for %d classes", ErrInvalidProblem, len(p.TargetPredictions), k)
	}
	for i := range k {
		if j := firstInvalid(p.Confusion.RawRowView(i)); j >= 0 {
			return fmt.Errorf("%w: the confusion matrix holds %v in row %d, column %d; every value must be finite and not negative",
				ErrInvalidProblem, p.Confusion.At(i, j), i, j)
		}
	}
	if i := firstInvalid(p.TargetPredictions); i >= 0 {
		return fmt.Errorf("%w: the target predictions hold %v for class %d; every value must be finite and not negative",
			ErrInvalidProblem, p.TargetPredictions[i], i)
	}
	return validateDistribution("source distribution", p.SourceDistribution)
}

// validateDistribution also accepts distributions that do not sum to one.
func validateDistribution(name string, distribution []float64) error {
	if i := firstInvalid(distribution); i >= 0 {
		return fmt.Errorf("%w: the %s holds %v for class %d; every value must be finite and not negative",
			ErrInvalidProblem, name, distribution[i], i)
	}
	if floats.Sum(distribution) == 0 {
		return fmt.Errorf("%w: the %s is zero in every class", ErrInfeasible, name)
	}
	return nil
}

// firstInvalid returns the index of the first value that is negative, NaN or
// infinite, and -1 where there is none.
func firstInvalid(values []float64) int {
	return slices.IndexFunc(values, func(v float64) bool { return !(v >= 0 && v <= math.MaxFloat64) })
}
