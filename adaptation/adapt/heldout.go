package adapt

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/adaptation/judge"
	"iwda/experiments/model"
	"iwda/experiments/report/chart"
	"iwda/inference/evaluation"
)

// heldOutRows are what the networks that predict, each by itself, say of the source's rows on
// which it was not trained, and of the target's: counts over all of them.
type heldOutRows struct {
	confusion [][]int // of true classes, by the predicted one
	// before and after calibration are the held-out rows by confidence. The calibration behind
	// after was fitted to other ones of them; after is nil if unfitted has the reason.
	before, after  []chart.Bin
	unfitted       error
	source, target []float64 // shares of rows by confidence, calibrated, the target's as they are corrected
}

// Numbers of bins of confidence.
const (
	reliabilityBins = 10
	confidenceBins  = 20
)

// HeldOutOutcome is how the networks that predict, each by itself, do on the source's rows that were
// held out from it.
type HeldOutOutcome struct {
	Networks int     `json:"networks"`
	Rows     int     `json:"rows"` // of all networks together
	Accuracy float64 `json:"accuracy"`
	// Gap is the mean distance of accuracy from confidence over ten bins of confidence, by rows
	// (expected calibration error), before calibration and after one that was fitted to other rows.
	GapBefore float64  `json:"calibration_gap_before"`
	GapAfter  *float64 `json:"calibration_gap,omitempty"`
}

// lookAtHeldOut returns what the candidates of the chosen runs say.
func lookAtHeldOut(choice judge.Choice, models []model.Metadata, candidates []judge.Candidate) (heldOutRows, error) {
	k := candidates[0].Classes
	h := heldOutRows{source: make([]float64, confidenceBins), target: make([]float64, confidenceBins)}
	for range k {
		h.confusion = append(h.confusion, make([]int, k))
	}
	var before, after tally
	for _, i := range choice.Predicting() {
		c, about := candidates[i], models[i]
		calibrated, err := about.Probabilities(c.HeldOut, nil)
		if err != nil {
			return heldOutRows{}, err
		}
		corrected, err := about.Probabilities(c.Compared(), corrected(about.Shares, choice.Correction)) // as sure as those of held-out rows
		if err != nil {
			return heldOutRows{}, err
		}
		row := 0
		for p := range slices.Chunk(calibrated, k) {
			h.confusion[c.HeldOutLabels[row]][floats.MaxIdx(p)]++
			h.source[binOf(floats.Max(p), confidenceBins)]++
			row++
		}
		for p := range slices.Chunk(corrected, k) {
			h.target[binOf(floats.Max(p), confidenceBins)]++
		}
		before.add(k, c.Uncalibrated(), c.HeldOutLabels)
		if elsewhere, err := c.CalibratedElsewhere(); err != nil {
			h.unfitted = err
		} else {
			after.add(k, elsewhere, c.HeldOutLabels)
		}
	}
	floats.Scale(1/floats.Sum(h.source), h.source)
	floats.Scale(1/floats.Sum(h.target), h.target)
	h.before = before.bins(len(choice.Predicting()))
	if h.unfitted == nil {
		h.after = after.bins(len(choice.Predicting()))
	}
	return h, nil
}

// binOf is the number of the bin, of n, that has a confidence.
func binOf(confidence float64, n int) int {
	return max(0, min(n-1, int(confidence*float64(n))))
}

// tally counts rows by confidence.
type tally [reliabilityBins]struct {
	rows, right int
	confidence  float64 // summed
}

// add counts rows by their probabilities, rows × k.
func (t *tally) add(k int, probabilities []float64, labels []int) {
	row := 0
	for p := range slices.Chunk(probabilities, k) {
		class := floats.MaxIdx(p)
		b := &t[binOf(p[class], len(t))]
		b.rows, b.confidence = b.rows+1, b.confidence+p[class]
		if class == labels[row] {
			b.right++
		}
		row++
	}
}

// bins are those of the tally over several networks, with intervals as wide as if all networks had
// said the same of the same rows.
func (t *tally) bins(networks int) []chart.Bin {
	bins := make([]chart.Bin, len(t))
	for i, b := range t {
		if n := float64(b.rows); n > 0 {
			e := evaluation.Wilson(float64(b.right)/n, n/float64(networks))
			bins[i] = chart.Bin{Rows: b.rows, Confidence: b.confidence / n, Accuracy: e.Value, Low: e.Low, High: e.High}
		}
	}
	return bins
}

// gap is the mean distance of accuracy from confidence, by rows.
func gap(bins []chart.Bin) float64 {
	sum, rows := 0.0, 0
	for _, b := range bins {
		sum, rows = sum+float64(b.Rows)*math.Abs(b.Accuracy-b.Confidence), rows+b.Rows
	}
	return sum / float64(rows)
}

// outcome is what is recorded of it.
func (h heldOutRows) outcome(networks int) HeldOutOutcome {
	all := HeldOutOutcome{Networks: networks, GapBefore: gap(h.before)}
	right := 0
	for class, row := range h.confusion {
		right += row[class]
		for _, n := range row {
			all.Rows += n
		}
	}
	all.Accuracy = float64(right) / float64(all.Rows)
	if h.after != nil {
		after := gap(h.after)
		all.GapAfter = &after
	}
	return all
}
