package weightest

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// ErrNoSource says that a class has target mass and no source mass: no weight of
// source samples can make up for it.
var ErrNoSource = errors.New("weightest: a class of the target does not occur in the source")

// Oracle returns the true class weights w[j] = D_T[j]/D_S[j] from the label
// distributions of both domains, both of length k; counts do as well, each side is
// divided by its sum. A class that neither domain has gets weight 0.
//
// The error wraps ErrNoSource and names the class where the target has a class that
// the source lacks, ErrInvalidProblem where a value is NaN, infinite or negative, and
// ErrInfeasible where a distribution is zero in every class. Oracle panics where the
// lengths differ.
func Oracle(source, target []float64) ([]float64, error) {
	if len(source) != len(target) {
		panic(fmt.Sprintf("weightest: %d classes in the source and %d in the target", len(source), len(target)))
	}
	if err := validateDistribution("source distribution", source); err != nil {
		return nil, err
	}
	if err := validateDistribution("target distribution", target); err != nil {
		return nil, err
	}
	source, target = slices.Clone(source), slices.Clone(target)
	for _, shares := range [][]float64{source, target} {
		total := floats.Sum(shares)
		for j := range shares {
			shares[j] /= total
		}
	}
	if j := missing(target, source); j >= 0 {
		return nil, fmt.Errorf("%w: class %d", ErrNoSource, j)
	}
	return Ratios(target, source), nil
}

// missing returns the first class that the target has and the source has not, -1 where
// there is none.
func missing(target, source []float64) int {
	for j, share := range target {
		if share > 0 && source[j] == 0 {
			return j
		}
	}
	return -1
}

// Ratios returns q_j/p_j, the weights that estimated shares q of the target make of known
// shares p of the rows that are weighted, and 0 for a class of which there is no such row. It
// panics where the lengths differ.
//
// The weights of MLLS have the mean prediction on held-out rows in the place of p, which for a
// class of few rows may be far from its share.
func Ratios(target, source []float64) []float64 {
	if len(source) != len(target) {
		panic(fmt.Sprintf("weightest: %d classes in the source and %d in the target", len(source), len(target)))
	}
	w := make([]float64, len(target))
	for j, share := range source {
		if share > 0 {
			w[j] = target[j] / share
		}
	}
	return w
}

// Distance returns the Euclidean distance ‖w - trueWeights‖ that the paper's figures
// show. It panics where the lengths differ.
func Distance(w, trueWeights []float64) float64 {
	if len(w) != len(trueWeights) {
		panic(fmt.Sprintf("weightest: the distance of %d weights to %d", len(w), len(trueWeights)))
	}
	return floats.Distance(w, trueWeights, 2)
}

// EffectiveSampleSize returns the share of the source sample that counts when class j
// has weight w[j] (Kish 1965):
//
//	(Σ_j D_S[j] w[j])² / (Σ_j D_S[j] · Σ_j D_S[j] w[j]²),
//
// where ΣD_S is 1 for a distribution. It is 1 where all weights are equal, D_S[j] where
// class j has all the weight, and 0 where no class has any. It panics where the
// lengths differ.
func EffectiveSampleSize(w, sourceDistribution []float64) float64 {
	if len(w) != len(sourceDistribution) {
		panic(fmt.Sprintf("weightest: %d weights for %d source classes", len(w), len(sourceDistribution)))
	}
	var total, first, second float64
	for j, d := range sourceDistribution {
		total += d
		first += d * w[j]
		second += d * w[j] * w[j]
	}
	if second == 0 {
		return 0
	}
	return first / total * first / second
}

// Correct returns what the probabilities of target rows, row-major m×k, should have
// been under the target's label distribution q, length k,
//
//	p'(y|x) ∝ p(y|x) q(y) / p_train(y),
//
// where trained, length k, is the distribution under which the probabilities are right:
// that of the source for a classifier trained with plain cross-entropy or calibrated on
// it, equal shares for one trained with a balanced loss (Saerens, Latinne and
// Decaestecker 2002). Both need not sum to one.
//
// The error wraps ErrInvalidProblem where a share is negative, NaN or infinite,
// ErrInfeasible where a distribution is zero in every class, ErrMissingClass with the
// number of a class that q has and trained has not, and ErrInvalidRow with the number
// of a row whose probability is 0 in every class of q. Correct panics where the lengths
// do not fit.
func Correct(probabilities, q, trained []float64) ([]float64, error) {
	k := len(q)
	if len(trained) != k || k == 0 || len(probabilities)%k != 0 {
		panic(fmt.Sprintf("weightest: %d probabilities, %d target shares and %d shares in training", len(probabilities), k, len(trained)))
	}
	if err := validateDistribution("target distribution", q); err != nil {
		return nil, err
	}
	if err := validateDistribution("training distribution", trained); err != nil {
		return nil, err
	}
	if j := missing(q, trained); j >= 0 {
		return nil, fmt.Errorf("%w: class %d has a share of the target and none of the training", ErrMissingClass, j)
	}
	w := Ratios(q, trained)
	corrected := make([]float64, len(probabilities))
	for first := 0; first < len(corrected); first += k {
		row := corrected[first : first+k]
		floats.MulTo(row, probabilities[first:first+k], w)
		total := floats.Sum(row)
		if !(total > 0) {
			return nil, fmt.Errorf("%w: target row %d has probability 0 in every class of the target", ErrInvalidRow, first/k)
		}
		floats.Scale(1/total, row)
	}
	return corrected, nil
}
