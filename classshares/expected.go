package classshares

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/evenly"
	"iwda/weightest"
	"iwda/weightest/intervals"
)

// Accuracy is what share of the target's rows predictions are expected to get right, and the
// bounds between which it lies with the level of [AccuracySettings].
type Accuracy struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// AccuracySettings are the options of [ExpectAccuracy].
type AccuracySettings struct {
	Level     float64 // of the interval, below 1; 0 means 0.95
	Resamples int     // 0 means 100, and down to 20 of more than 100 classes, whose cubes they cost
	Seed      uint64
	// Uncorrected probabilities are taken as they are: right if rows were selected by their values, and
	// not by their classes.
	Uncorrected bool
}

const (
	// defaultLevel is that of intervals.
	defaultLevel = 0.95
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

// ExpectAccuracy returns the expected accuracy on the target's rows of predictions, a class for
// each, which may be those of another classifier: the mean of the corrected probabilities, after
// [Fit], that this classifier gives them. Of a domain with more than 4000 rows that many are drawn. It is
// right if the features of each class are distributed alike in both domains. If it is asked of a classifier
// that was made to see them alike, it is right about nothing.
//
// The interval is from the resamples of [Shares.Bootstrap], in each of which
// calibration and shares are fitted anew, and rows are right or wrong with their probabilities. Its ends are
// their percentiles, of fewer than 100 resamples Student's for their mean and standard deviation, or the
// mirror images of these, whichever are further away: what was fitted to chance makes the resamples lie
// above the estimate, or below it if the predictions were fitted to the same rows.
func ExpectAccuracy(classes int, heldOut Rows, labels []int, target Rows, predicted []int, how Settings, s AccuracySettings) (Accuracy, error) {
	if err := checkPredicted(predicted, len(target.Values)/classes, classes); err != nil {
		return Accuracy{}, err
	}
	s.Level = cmp.Or(s.Level, defaultLevel)
	if !(s.Level > 0 && s.Level < 1) {
		return Accuracy{}, fmt.Errorf("an interval of the level %v; it must be between 0 and 1", s.Level)
	}
	if s.Resamples == 0 {
		s.Resamples = resamplesOf(classes)
	}
	const most = 4000 // rows of a domain, as each is read a hundred times
	ours, theirs := heldOut.Drawn(classes, most), target.Drawn(classes, most)
	labels, predicted = evenly.Pick(labels, ours), evenly.Pick(predicted, theirs)
	fitted, err := Fit(classes, heldOut.Evenly(classes, most), labels, target.Evenly(classes, most), how)
	if err != nil {
		return Accuracy{}, err
	}
	weights := func(e weightest.Estimate) []float64 {
		if s.Uncorrected {
			return slices.Repeat([]float64{1}, classes)
		}
		return e.Weights
	}
	value, err := meanOfPredicted(fitted.Sample.Target(), nil, predicted, weights(fitted.Estimate))
	if err != nil {
		return Accuracy{}, err
	}
	all := make([]float64, s.Resamples)
	for i := range all {
		all[i] = math.NaN()
	}
	_, err = fitted.Bootstrap(intervals.BootstrapSettings{Replicas: s.Resamples, Level: s.Level, Seed: s.Seed, Observe: func(r intervals.Resampled) {
		of, counts := predicted, r.Problem.Rows.Counts
		if len(counts) < len(r.Target) { // those that count
			of = nil
			for i, count := range r.Target {
				if count > 0 {
					of = append(of, predicted[i])
				}
			}
		}
		mean, err := meanOfPredicted(r.Problem.Rows.Probabilities, counts, of, weights(r.Estimate))
		if err != nil {
			return // a resample in which they cannot be corrected
		}
		random := rand.New(rand.NewPCG(s.Seed^0x65787065637465, uint64(r.Number)))
		all[r.Number] = mean.value + math.Sqrt(mean.variance)*random.NormFloat64()
	}})
	if err != nil {
		return Accuracy{}, err
	}
	draws := slices.DeleteFunc(all, math.IsNaN)
	if len(draws) < max(2, s.Resamples/2) {
		return Accuracy{}, fmt.Errorf("in %d of %d resamples the target's class shares cannot be estimated", s.Resamples-len(draws), s.Resamples)
	}
	low, high := bounds(draws, s.Level)
	reach := max(value.value-low, high-value.value)
	return Accuracy{Value: value.value, Low: max(0, value.value-reach), High: min(1, value.value+reach)}, nil
}

// expected is the mean probability of predictions, and its variance if each is right or wrong with its own.
type expected struct{ value, variance float64 }

// meanOfPredicted is that of rows of probabilities times weights, each as often as it counts; nil: once.
func meanOfPredicted(probabilities []float64, counts, predicted []int, weights []float64) (e expected, err error) {
	corrected, err := weightest.Correct(probabilities, weights, slices.Repeat([]float64{1}, len(weights)))
	if err != nil {
		return expected{}, err
	}
	rows := 0.0
	for i, class := range predicted {
		count, p := 1.0, corrected[i*len(weights)+class]
		if counts != nil {
			count = float64(counts[i])
		}
		rows += count
		e.value += count * p
		e.variance += count * p * (1 - p)
	}
	return expected{e.value / rows, e.variance / rows / rows}, nil
}

// checkPredicted returns an error unless a class is predicted of each of n rows.
func checkPredicted(predicted []int, n, classes int) error {
	if len(predicted) != n {
		return fmt.Errorf("%d predictions of %d rows", len(predicted), n)
	}
	for row, class := range predicted {
		if class < 0 || class >= classes {
			return fmt.Errorf("class %d is predicted of row %d; there are %d classes", class, row, classes)
		}
	}
	return nil
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
	another := intervals.OfDraws(draws, level)
	return another.Low, another.High
}
