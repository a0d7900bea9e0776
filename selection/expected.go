package selection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"iwda/weightest"
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
	Resamples int     // 0 means 100
	Seed      uint64
}

// Expect returns the expected accuracy on the target's rows of a classifier that predicts the
// class of the largest corrected probability: the mean of that probability. The logits, as the
// network gives them, are calibrated on the held-out source rows ([Calibrated]), the target's
// class shares estimated by maximum likelihood (weightest.MLLS), and the probabilities corrected
// for them. It is right where the features of each class are distributed alike in both
// domains, and to be distrusted where weightest.LabelShiftTest rejects.
//
// The interval is that of percentiles over resamples of both domains' rows, the source's
// class by class, in each of which all of that is done again, and the rows are right or
// wrong with their probabilities.
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
		settings.Resamples = 100
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
	if 2*len(draws) < settings.Resamples {
		return ExpectedAccuracy{}, fmt.Errorf("selection: in %d of %d resamples the target's class shares cannot be estimated", settings.Resamples-len(draws), settings.Resamples)
	}
	slices.Sort(draws)
	tail := (1 - settings.Level) / 2
	quantile := func(p float64) float64 { return min(1, max(0, stat.Quantile(p, stat.LinInterp, draws, nil))) }
	return ExpectedAccuracy{Value: mean(right), Low: quantile(tail), High: quantile(1 - tail)}, nil
}

// probabilitiesOfBeingRight returns the largest corrected probability of each target row.
func probabilitiesOfBeingRight(in Input) ([]float64, error) {
	p, err := Corrected(in)
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
// calibrated on the held-out source rows and corrected for the target's class shares by
// maximum likelihood.
func Corrected(in Input) (*mat.Dense, error) {
	c, err := calibration(in)
	if err != nil {
		return nil, err
	}
	sample, err := weightest.NewCalibratedSample(c, valuesOf(in.SourceLogits), in.SourceLabels, valuesOf(in.TargetLogits))
	if err != nil {
		return nil, fmt.Errorf("selection: %w", err)
	}
	problem, err := sample.Problem(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("selection: %w", err)
	}
	solution, err := weightest.MLLS(problem, weightest.MLLSSettings{})
	if err != nil {
		return nil, fmt.Errorf("the target's class shares: %w", err)
	}
	k := in.classes()
	// The weights are the target's shares over the source's, so that those of training are 1.
	corrected, err := weightest.Correct(sample.Target(), solution.Weights, slices.Repeat([]float64{1}, k))
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
