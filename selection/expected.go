package selection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest"
	"iwda/weightest/calibration"
)

// ExpectedAccuracy is what share of the target's rows a classifier is expected to get right,
// and the bounds between which it lies with the level of [ExpectedSettings].
type ExpectedAccuracy struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// ExpectedSettings are the options of [Expect].
type ExpectedSettings struct {
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

// Expect returns the expected accuracy on the target's rows of a classifier that predicts the
// class of the largest corrected probability. The logits, as the network gives them, are
// calibrated on the held-out source rows ([Calibrated]), the target's class shares estimated by
// maximum likelihood (weightest.MLLS), and the probabilities corrected for them. Their largest
// are right that often on average, but for what was fitted to chance: how much that is, the
// same shows on resamples of both domains' rows, the source's class by class, and is taken
// away. It is right where the features of each class are distributed alike in both domains,
// and to be distrusted where shifttest.LabelShiftTest rejects.
//
// The interval is that of percentiles over the resamples, in which rows are right or wrong
// with their probabilities, mirrored at the estimate (the basic bootstrap: Davison and Hinkley
// 1997); of fewer than 100 resamples it is Student's for their mean and standard deviation.
func Expect(in Input, settings ExpectedSettings) (ExpectedAccuracy, error) {
	for _, n := range []need{sourceRows, targetRows} {
		if !n.there(in) {
			return ExpectedAccuracy{}, fmt.Errorf("selection: %w: an expected accuracy needs %s", ErrMissing, n.what)
		}
	}
	if settings.Level == 0 {
		settings.Level = 0.95
	}
	if settings.Resamples == 0 {
		settings.Resamples = resamplesOf(in.classes())
	}
	right, err := probabilitiesOfBeingRight(in)
	if err != nil {
		return ExpectedAccuracy{}, err
	}
	random := rand.New(rand.NewPCG(settings.Seed, 0x65787065637465))
	byClass := rowsByClass(in.SourceLabels, in.classes())
	var draws []float64
	for range settings.Resamples {
		again, err := probabilitiesOfBeingRight(in.resampled(byClass, random))
		if err != nil {
			continue // a resample in which the estimate cannot be had
		}
		variance := 0.0
		for _, p := range again {
			variance += p * (1 - p)
		}
		n := float64(len(again))
		draws = append(draws, mean(again)+math.Sqrt(variance)/n*random.NormFloat64())
	}
	if len(draws) < max(2, settings.Resamples/2) {
		return ExpectedAccuracy{}, fmt.Errorf("selection: in %d of %d resamples the target's class shares cannot be estimated", settings.Resamples-len(draws), settings.Resamples)
	}
	low, high := bounds(draws, settings.Level)
	mirrored := func(draw float64) float64 { return max(0, min(1, 2*mean(right)-draw)) }
	return ExpectedAccuracy{Value: mirrored(mean(draws)), Low: mirrored(high), High: mirrored(low)}, nil
}

// bounds returns those between which another draw lies with that probability. There must be
// two draws.
func bounds(draws []float64, level float64) (low, high float64) {
	tail := (1 - level) / 2
	if n := float64(len(draws)); n < manyResamples {
		centre, deviation := stat.MeanStdDev(draws, nil)
		reach := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1-tail) * deviation * math.Sqrt(1+1/n)
		low, high = centre-reach, centre+reach
	} else {
		slices.Sort(draws)
		low, high = stat.Quantile(tail, stat.LinInterp, draws, nil), stat.Quantile(1-tail, stat.LinInterp, draws, nil)
	}
	return low, high
}

// probabilitiesOfBeingRight returns the largest corrected probability of each target row.
func probabilitiesOfBeingRight(in Input) ([]float64, error) {
	c, err := calibrationOf(in)
	if err != nil {
		return nil, err
	}
	p, err := Corrected(in, c)
	if err != nil {
		return nil, err
	}
	rows, _ := p.Dims()
	largest := make([]float64, rows)
	for i := range largest {
		largest[i] = floats.Max(p.RawRowView(i))
	}
	return largest, nil
}

// Corrected returns the probabilities of the target's rows, of logits as a network gives them,
// by their calibration on the held-out source rows ([Calibrated]) and corrected for the target's
// class shares by maximum likelihood.
func Corrected(in Input, c calibration.Calibration) (*mat.Dense, error) {
	sample, err := calibration.NewSample(c, valuesOf(in.SourceLogits), in.SourceLabels, valuesOf(in.TargetLogits))
	if err != nil {
		return nil, fmt.Errorf("selection: %w", err)
	}
	solution, err := TargetShares(sample)
	if err != nil {
		return nil, fmt.Errorf("the target's class shares: %w", err)
	}
	k := in.classes()
	// Calibrated probabilities speak for the class shares of the held-out rows.
	q, p := solution.TargetDistribution, make([]float64, k)
	for _, label := range in.SourceLabels {
		p[label]++
	}
	if floats.Min(p) == 0 { // only their means do, where a class could not be calibrated
		q, p = solution.Weights, slices.Repeat([]float64{1}, k)
	}
	corrected, err := weightest.Correct(sample.Target(), q, p)
	if err != nil {
		return nil, fmt.Errorf("selection: %w", err)
	}
	return mat.NewDense(len(corrected)/k, k, corrected), nil
}

func rowsByClass(labels []int, classes int) [][]int {
	rows := make([][]int, classes)
	for i, label := range labels {
		rows[label] = append(rows[label], i)
	}
	return rows
}

// resampled draws as many rows of each domain with replacement, the source's class by class.
func (in Input) resampled(byClass [][]int, random *rand.Rand) Input {
	var again Input
	_, k := in.SourceLogits.Dims()
	again.SourceLogits = mat.NewDense(len(in.SourceLabels), k, nil)
	for label, rows := range byClass {
		for range rows {
			again.SourceLogits.SetRow(len(again.SourceLabels), in.SourceLogits.RawRowView(rows[random.IntN(len(rows))]))
			again.SourceLabels = append(again.SourceLabels, label)
		}
	}
	targets, _ := in.TargetLogits.Dims()
	again.TargetLogits = mat.NewDense(targets, k, nil)
	for i := range targets {
		again.TargetLogits.SetRow(i, in.TargetLogits.RawRowView(random.IntN(targets)))
	}
	return again
}
