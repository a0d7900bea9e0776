package classshares

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Accuracy is what share of the target's rows a classifier is expected to get right, and the
// bounds between which it lies with the level of [AccuracySettings].
type Accuracy struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// AccuracySettings are the options of [ExpectAccuracy].
type AccuracySettings struct {
	Level     float64 // of the interval; 0 means 0.95
	Resamples int     // 0 means 100, and down to 20 of more than 100 classes, whose cubes they cost
	Seed      uint64
}

const (
	// manyResamples are enough for their percentiles to be bounds.
	manyResamples = 100
	// fewestResamples tell a standard deviation to a sixth of itself.
	fewestResamples = 20
)

// resamplesOf returns the number of resamples that costs about as much for so many classes as
// manyResamples do for a hundred.
func resamplesOf(classes int) int {
	affordable := manyResamples * 100 * 100 / (classes * classes)
	return min(manyResamples, max(fewestResamples, affordable))
}

// ExpectAccuracy returns the expected accuracy on the target's rows of a classifier that
// predicts the class of the largest corrected probability, after [Fit]. The largest
// probabilities are right that often on average, but for what was fitted to chance: how much
// that is, the same shows on resamples of both domains' rows, the source's class by class, and
// is taken away. It is right if the features of each class are distributed alike in both
// domains, and to be distrusted if shifttest.LabelShiftTest of the [Shares.Sample] rejects.
//
// The interval is that of percentiles over the resamples, in which rows are right or wrong
// with their probabilities, mirrored at the estimate (the basic bootstrap: Davison and Hinkley
// 1997); of fewer than 100 resamples it is Student's for their mean and standard deviation.
func ExpectAccuracy(classes int, heldOut Rows, labels []int, target Rows, how Settings, s AccuracySettings) (Accuracy, error) {
	if s.Level == 0 {
		s.Level = 0.95
	}
	if s.Resamples == 0 {
		s.Resamples = resamplesOf(classes)
	}
	right, err := probabilitiesOfBeingRight(classes, heldOut, labels, target, how)
	if err != nil {
		return Accuracy{}, err
	}
	random := rand.New(rand.NewPCG(s.Seed, 0x65787065637465))
	rows := make([][]int, classes)
	for i, label := range labels {
		rows[label] = append(rows[label], i)
	}
	var draws []float64
	for range s.Resamples {
		heldOut, labels := heldOut.resampledByClass(rows, classes, random)
		again, err := probabilitiesOfBeingRight(classes, heldOut, labels, target.resampled(classes, random), how)
		if err != nil {
			continue // a resample in which the estimate cannot be had
		}
		variance := 0.0
		for _, p := range again {
			variance += p * (1 - p)
		}
		draws = append(draws, stat.Mean(again, nil)+math.Sqrt(variance)/float64(len(again))*random.NormFloat64())
	}
	if len(draws) < max(2, s.Resamples/2) {
		return Accuracy{}, fmt.Errorf("in %d of %d resamples the target's class shares cannot be estimated", s.Resamples-len(draws), s.Resamples)
	}
	low, high := bounds(draws, s.Level)
	mirrored := func(draw float64) float64 { return max(0, min(1, 2*stat.Mean(right, nil)-draw)) }
	return Accuracy{Value: mirrored(stat.Mean(draws, nil)), Low: mirrored(high), High: mirrored(low)}, nil
}

// bounds returns those between which another draw lies with that probability. There must be
// two draws.
func bounds(draws []float64, level float64) (low, high float64) {
	tail := (1 - level) / 2
	if n := float64(len(draws)); n < manyResamples {
		centre, deviation := stat.MeanStdDev(draws, nil)
		reach := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1-tail) * deviation * math.Sqrt(1+1/n)
		return centre - reach, centre + reach
	}
	slices.Sort(draws)
	return stat.Quantile(tail, stat.LinInterp, draws, nil), stat.Quantile(1-tail, stat.LinInterp, draws, nil)
}

// probabilitiesOfBeingRight returns the largest corrected probability of each target row.
func probabilitiesOfBeingRight(classes int, heldOut Rows, labels []int, target Rows, how Settings) ([]float64, error) {
	s, err := Fit(classes, heldOut, labels, target, how)
	if err != nil {
		return nil, err
	}
	corrected, err := s.Correct(0, len(target.Values)/classes)
	if err != nil {
		return nil, err
	}
	var largest []float64
	for row := range slices.Chunk(corrected, classes) {
		largest = append(largest, floats.Max(row))
	}
	return largest, nil
}

// resampledByClass draws as many rows of each class with replacement.
func (r Rows) resampledByClass(ofClass [][]int, k int, random *rand.Rand) (again Rows, labels []int) {
	again.Probabilities = r.Probabilities
	for label, rows := range ofClass {
		for range rows {
			row := rows[random.IntN(len(rows))]
			again.Values, labels = append(again.Values, r.Values[row*k:(row+1)*k]...), append(labels, label)
		}
	}
	return again, labels
}

// resampled draws as many rows with replacement.
func (r Rows) resampled(k int, random *rand.Rand) Rows {
	again := Rows{Values: make([]float32, 0, len(r.Values)), Probabilities: r.Probabilities}
	n := len(r.Values) / k
	for range n {
		row := random.IntN(n)
		again.Values = append(again.Values, r.Values[row*k:(row+1)*k]...)
	}
	return again
}
