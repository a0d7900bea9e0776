package classshares

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/intervals"
)

// Bootstrap returns intervals of shares and weights: both domains' rows are resampled, the
// classifier is calibrated on the resample, and the shares are estimated as they were. One
// that is not calibrated is taken as it is.
func (s *Shares) Bootstrap(settings intervals.BootstrapSettings) (intervals.Uncertainty, error) {
	r, err := s.resampler()
	if err != nil {
		return intervals.Uncertainty{}, err
	}
	if r != nil {
		settings.Resample = r.problem
	}
	return intervals.Bootstrap(s.Sample, s.estimator, settings)
}

// resampler makes the problems of resamples of both domains' rows.
type resampler struct {
	*Shares
	calibration *calibration.Resampler
	moves       []float64 // of the calibrated logits; length k
}

// resampler is nil for a classifier whose calibration has no parameter.
func (s *Shares) resampler() (*resampler, error) {
	k := len(s.Scales)
	logits := s.heldOut.logits(k, s.Zero)
	r := &resampler{Shares: s, moves: make([]float64, k)}
	if s.moved != nil {
		for i := range logits {
			logits[i] += s.moved[i%k]
		}
	}
	var err error
	if r.calibration, err = s.OnResamples(logits, s.labels); err != nil || r.calibration == nil {
		return nil, err
	}
	for class, share := range sharesOf(s.labels, k) {
		if share != s.SpeaksFor[class] {
			r.moves[class] += math.Log(share / s.SpeaksFor[class])
		}
	}
	return r, nil
}

// problem is intervals.BootstrapSettings.Resample.
func (r *resampler) problem(source, target []int, random *rand.Rand) (weightest.Problem, error) {
	k := len(r.Scales)
	c := r.calibration.Fit(source, random)
	floats.Add(c.Biases, r.moves)
	for i, moved := range r.moved {
		c.Biases[i] += c.Scales[i] * moved
	}
	sums := weightest.NewSums(k)
	r.count(c, r.heldOut, r.labels, source, sums, nil)
	rows, err := r.countTarget(c, target, sums)
	if err != nil {
		return weightest.Problem{}, err
	}
	p, err := sums.Problem()
	p.Rows = rows
	return p, err
}

// partRows is the number of target rows that are counted on a processor of their own: a resample
// of many has them all, see intervals.BootstrapSettings.Resample.
const partRows = 100_000

// countTarget adds the target's rows that count to sums, and returns them calibrated.
func (r *resampler) countTarget(c calibration.Calibration, counts []int, sums *weightest.Sums) (*weightest.Rows, error) {
	k, kept := len(c.Scales), 0
	for _, count := range counts {
		kept += min(1, count)
	}
	rows := &weightest.Rows{Probabilities: make([]float64, kept*k), Counts: make([]int, 0, kept)}
	var parts []*weightest.Sums
	var all sync.WaitGroup
	for part := range slices.Chunk(counts, partRows) {
		some := Rows{Values: r.target.Values[len(parts)*partRows*k:], Probabilities: r.target.Probabilities}
		into := rows.Probabilities[len(rows.Counts)*k:]
		for _, count := range part {
			if count > 0 {
				rows.Counts = append(rows.Counts, count)
			}
		}
		counted := weightest.NewSums(k)
		parts = append(parts, counted)
		all.Go(func() { r.count(c, some, nil, part, counted, into) })
	}
	all.Wait()
	for _, part := range parts {
		if err := sums.Merge(part); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// blockRows are counted together: as many as stay in a fast cache.
const blockRows = 512

// count adds a domain's rows that count, calibrated, to sums, and sets those of the target, whose
// labels are nil.
func (r *resampler) count(c calibration.Calibration, rows Rows, labels, counts []int, sums *weightest.Sums, kept []float64) {
	k := len(c.Scales)
	some := Rows{Probabilities: rows.Probabilities}
	var someLabels, someCounts []int
	flush := func() {
		probabilities := c.Probabilities(some.logits(k, r.Zero))
		sums.Add(probabilities, someLabels, someCounts)
		if labels == nil {
			kept = kept[copy(kept, probabilities):]
		}
		some.Values, someLabels, someCounts = some.Values[:0], someLabels[:0], someCounts[:0]
	}
	for i, count := range counts {
		if count == 0 {
			continue
		}
		some.Values, someCounts = append(some.Values, rows.Values[i*k:(i+1)*k]...), append(someCounts, count)
		if labels != nil {
			someLabels = append(someLabels, labels[i])
		}
		if len(someCounts) == blockRows {
			flush()
		}
	}
	flush()
}
