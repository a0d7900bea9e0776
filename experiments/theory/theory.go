// Package theory computes the quantities of the paper's theorems for a classifier
// whose predictions on both domains are known, so that what they promise can be
// compared with what a run measured.
//
// The paper is "Domain Adaptation with Conditional Distribution Matching and
// Generalized Label Shift", NeurIPS 2020. Distributions are those of the samples at
// hand: the theorems hold for any pair of distributions, those included.
package theory

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/internal/convert"
)

// Joint is a joint distribution of a domain's true class (row) and predicted class
// (column): D(Y = y, Ŷ = y') of the paper. Its values sum to 1.
type Joint [][]float64

// JointOf returns the shares of the counts of a confusion matrix as package store reads it,
// row = true class, column = predicted. One without any sample is an error.
func JointOf(confusion [][]int) (Joint, error) {
	total := 0
	for _, row := range confusion {
		for _, count := range row {
			total += count
		}
	}
	if total == 0 {
		return nil, errors.New("theory: the confusion matrix holds no sample")
	}
	joint := make(Joint, len(confusion))
	for y, row := range confusion {
		joint[y] = convert.Each(row, func(count int) float64 { return float64(count) / float64(total) })
	}
	return joint, nil
}

// Labels returns D(Y), the marginal of the true class.
func (j Joint) Labels() []float64 {
	labels := make([]float64, len(j))
	for y, row := range j {
		for _, p := range row {
			labels[y] += p
		}
	}
	return labels
}

// Predictions returns D(Ŷ), the marginal of the predicted class.
func (j Joint) Predictions() []float64 {
	predictions := make([]float64, len(j))
	for _, row := range j {
		floats.Add(predictions, row)
	}
	return predictions
}

// Error returns ε = D(Ŷ ≠ Y).
func (j Joint) Error() float64 {
	sum := 0.0
	for y, row := range j {
		for predicted, p := range row {
			if predicted != y {
				sum += p
			}
		}
	}
	return sum
}

// BalancedErrorRate returns the largest error of any class, max_y D(Ŷ ≠ Y | Y = y),
// which the paper calls BER. Classes without samples do not count.
func (j Joint) BalancedErrorRate() float64 {
	largest := 0.0
	for y, share := range j.Labels() {
		if share > 0 {
			largest = max(largest, 1-j[y][y]/share)
		}
	}
	return largest
}

// ConditionalErrorGap returns the largest difference between the domains' rates of
// one confusion, max over y ≠ y' of |D_S(Ŷ = y' | Y = y) - D_T(Ŷ = y' | Y = y)|,
// which the paper calls Δ_CE. It is 0 under generalized label shift. Classes that a
// domain lacks do not count. Both have as many classes.
func ConditionalErrorGap(source, target Joint) float64 {
	sourceLabels, targetLabels := source.Labels(), target.Labels()
	largest := 0.0
	for y := range source {
		if sourceLabels[y] == 0 || targetLabels[y] == 0 {
			continue
		}
		for predicted := range source {
			if predicted != y {
				gap := math.Abs(source[y][predicted]/sourceLabels[y] - target[y][predicted]/targetLabels[y])
				largest = max(largest, gap)
			}
		}
	}
	return largest
}

// Bounds are both sides of the paper's four theorems on errors for one classifier, and what
// they are made of.
type Bounds struct {
	SourceError, TargetError float64 // ε_S, ε_T
	BalancedErrorRate        float64 // of the source
	ConditionalErrorGap      float64
	LabelDistance            float64 // ‖D_S(Y) - D_T(Y)‖₁
	LabelJSD                 float64 // Jensen-Shannon divergence of D_S(Y) and D_T(Y), natural logarithm
	PredictionJSD            float64 // that of D_S(Ŷ) and D_T(Ŷ)

	// The error decomposition theorem (thm. 3.1):
	//
	//	ErrorGap = |ε_S - ε_T| ≤ ErrorGapBound = ‖D_S(Y) - D_T(Y)‖₁ BER + 2(k-1) Δ_CE
	ErrorGap, ErrorGapBound float64

	// The joint error bound (thm. 3.2), which supposes generalized label shift: a
	// joint error above it shows that the representation is far from it.
	//
	//	JointError = ε_S + ε_T ≤ JointErrorBound = 2 BER
	JointError, JointErrorBound float64

	// The lower bound of the joint error (thm. 2.1) with Ŷ itself as the
	// representation: aligned predictions under label shift cost accuracy.
	//
	//	JointError ≥ JointErrorFloor = ½ (√LabelJSD - √PredictionJSD)²
	//
	// The theorem supposes LabelJSD ≥ PredictionJSD; the floor is 0 otherwise.
	JointErrorFloor float64

	// The condition sufficient for generalized label shift (thm. 3.4) with Ŷ itself as the representation:
	// w are the true weights D_T(Y)/D_S(Y), w_M their largest, γ the smallest D_T(Y = y).
	//
	//	ConditionalDistance = max_y d_TV(D_S(Ŷ | Y = y), D_T(Ŷ | Y = y))
	//	    ≤ ConditionalDistanceBound = (w_M ε_S + ε_T + √(8 WeightedPredictionJSD)) / γ
	//
	// Classes that the target lacks do not count on the left; with them γ is 0 and the bound infinite.
	ConditionalDistance, ConditionalDistanceBound float64
	// WeightedPredictionJSD is that of D_S^w(Ŷ) and D_T(Ŷ). It is 0 if generalized label shift holds (lemma 3.1).
	WeightedPredictionJSD float64
}

// Evaluate returns the bounds for a classifier with these joint distributions of as many
// classes. It is an error if the source has no sample of a class of the target: its
// predictions given that class are not defined, so no theorem applies.
func Evaluate(source, target Joint) (Bounds, error) {
	sourceLabels, targetLabels := source.Labels(), target.Labels()
	b := Bounds{
		SourceError:         source.Error(),
		TargetError:         target.Error(),
		BalancedErrorRate:   source.BalancedErrorRate(),
		ConditionalErrorGap: ConditionalErrorGap(source, target),
		LabelJSD:            datasets.JSD(sourceLabels, targetLabels),
		PredictionJSD:       datasets.JSD(source.Predictions(), target.Predictions()),
	}
	weighted := make([]float64, len(source)) // D_S^w(Ŷ)
	largest := 0.0
	for y := range source {
		if sourceLabels[y] == 0 && targetLabels[y] > 0 {
			return Bounds{}, fmt.Errorf("theory: class %d: the source has no sample of a class of the target", y)
		}
		b.LabelDistance += math.Abs(sourceLabels[y] - targetLabels[y])
		if targetLabels[y] == 0 {
			continue
		}
		weight, distance := targetLabels[y]/sourceLabels[y], 0.0
		for predicted, p := range source[y] {
			weighted[predicted] += weight * p
			distance += math.Abs(p/sourceLabels[y]-target[y][predicted]/targetLabels[y]) / 2
		}
		largest = max(largest, weight)
		b.ConditionalDistance = max(b.ConditionalDistance, distance)
	}
	b.WeightedPredictionJSD = datasets.JSD(weighted, target.Predictions())
	b.ConditionalDistanceBound = (largest*b.SourceError + b.TargetError + math.Sqrt(8*b.WeightedPredictionJSD)) / slices.Min(targetLabels)
	k := float64(len(source))
	b.ErrorGap = math.Abs(b.SourceError - b.TargetError)
	b.ErrorGapBound = b.LabelDistance*b.BalancedErrorRate + 2*(k-1)*b.ConditionalErrorGap
	b.JointError = b.SourceError + b.TargetError
	b.JointErrorBound = 2 * b.BalancedErrorRate
	if root := math.Sqrt(b.LabelJSD) - math.Sqrt(b.PredictionJSD); root > 0 {
		b.JointErrorFloor = root * root / 2
	}
	return b, nil
}
