package shifttest

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/internal/panels"
)

const (
	// power is the probability with which a loss is found that counts as detectable.
	power = 0.8
	// nullResamples are those that say which J is significant.
	nullResamples = 200
	// turns is the number of turns that are tried, each by rising angles.
	turns = 5
	// leastTurn and mostTurn are the angles between which a turn is sought, in radians.
	leastTurn, mostTurn = math.Pi / 180, math.Pi / 4
	// halvings narrow the angle at which a turn is found.
	halvings = 4
)

// turned are source rows whose logits are turned: what the target's might have become.
type turned struct {
	*binnedCounts
	q       []float64 // the target's shares of the classes that are present
	pooled  []float64
	bins    binning
	present []int
	labels  []int
	logits  []float64 // row-major n×k, about the target's mean
	centre  []float64 // that mean
}

// detectable returns the smallest loss of accuracy that the test finds in each turn of the
// logits, or +Inf. A turn is one by the same angle in the planes of pairs of classes, as if their
// features were turned: what classes have in common, of which probabilities say nothing, is
// drawn as if the logits of a class were independent.
//
// A J of expected counts is the noncentrality of the statistic, whose distribution without
// it is that of resamples under label shift.
func detectable(s *weightest.Sample, c *binnedCounts, bins binning, present []int, q []float64, seed uint64) (float64, error) {
	random := rand.New(rand.NewPCG(seed, 0x7475726e))
	t := newTurned(s, c, bins, present, q, random)
	needed, err := t.needed(seed)
	if err != nil {
		return 0, err
	}
	orders := make([][]int, turns)
	for i := range orders {
		orders[i] = random.Perm(s.Classes())
	}
	losses, failures := make([]float64, turns), make([]error, turns)
	panels.Each(turns, func(i int) { losses[i], failures[i] = t.smallestLoss(orders[i], needed) })
	for _, err := range failures {
		if err != nil {
			return 0, err
		}
	}
	return floats.Max(losses), nil
}

func newTurned(s *weightest.Sample, c *binnedCounts, bins binning, present []int, q []float64, random *rand.Rand) *turned {
	k := s.Classes()
	source, labels := s.Source()
	t := &turned{c, q, c.pooled(), bins, present, labels, calibration.CenteredLogs(source, k), make([]float64, k)}
	means := make([][]float64, k)
	for y := range means {
		means[y] = make([]float64, k)
	}
	for i, y := range labels {
		floats.Add(means[y], t.row(i))
	}
	for i, y := range present {
		floats.Scale(1/floats.Sum(c.source[i]), means[y])
		floats.AddScaled(t.centre, q[i], means[y])
	}
	var variance float64 // of a logit within its class, were they independent
	for i, y := range labels {
		distance := floats.Distance(t.row(i), means[y], 2)
		variance += distance * distance / float64(len(labels)*(k-1))
	}
	common := math.Sqrt(variance / float64(k))
	for i := range labels {
		floats.Sub(t.row(i), t.centre)
		floats.AddConst(common*random.NormFloat64(), t.row(i))
	}
	return t
}

func (t *turned) row(i int) []float64 {
	k := len(t.centre)
	return t.logits[i*k : (i+1)*k]
}

// needed returns the J of expected counts at which the power is reached.
func (t *turned) needed(seed uint64) (float64, error) {
	values, failures := make([]float64, nullResamples), make([]error, nullResamples)
	panels.Each(nullResamples, func(i int) {
		drawn := t.resample(t.q, t.pooled, rand.New(rand.NewPCG(seed, uint64(i))))
		values[i], failures[i] = newMoments(drawn, t.pooled).minimise(slices.Clone(t.q), 0)
	})
	for _, err := range failures {
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(values)
	critical := stat.Quantile(1-Significance, stat.LinInterp, values, nil)
	// Noncentral χ² is χ² with the noncentrality δ and 2√δ times a normal number added.
	found := func(noncentrality float64) (sum float64) {
		for _, v := range values {
			sum += distuv.UnitNormal.CDF((v + noncentrality - critical) / (2 * math.Sqrt(noncentrality)))
		}
		return sum / nullResamples
	}
	low, high := 0.0, 1.0
	for found(high) < power {
		low, high = high, 2*high
	}
	for range 20 {
		if middle := (low + high) / 2; found(middle) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}

// smallestLoss returns the loss by the smallest turn, of classes in the planes of pairs in
// this order, whose J is as large as needed; +Inf if none is.
func (t *turned) smallestLoss(order []int, needed float64) (float64, error) {
	_, right, err := t.by(0, order)
	if err != nil {
		return 0, err
	}
	low, high, now := 0.0, leastTurn, 0.0
	for {
		var distance float64
		if distance, now, err = t.by(high, order); err != nil {
			return 0, err
		}
		if distance >= needed {
			break
		}
		if high >= mostTurn {
			return math.Inf(1), nil
		}
		low, high = high, min(2*high, mostTurn)
	}
	for range halvings {
		middle := (low + high) / 2
		distance, accuracy, err := t.by(middle, order)
		if err != nil {
			return 0, err
		}
		if distance >= needed {
			high, now = middle, accuracy
		} else {
			low = middle
		}
	}
	return max(0, right-now), nil
}

// by returns J of the counts to expect in a target of rows turned by an angle, and the
// share of these that are predicted right.
func (t *turned) by(angle float64, order []int) (distance, right float64, err error) {
	k := len(t.centre)
	ofClass, hits, row := make([][]float64, k), make([]float64, k), make([]float64, k)
	for _, y := range t.present {
		ofClass[y] = make([]float64, len(t.target))
	}
	sine, cosine := math.Sincos(angle)
	for i, y := range t.labels {
		copy(row, t.row(i))
		for pair := range slices.Chunk(order, 2) {
			if len(pair) == 2 {
				a, b := row[pair[0]], row[pair[1]]
				row[pair[0]], row[pair[1]] = cosine*a-sine*b, sine*a+cosine*b
			}
		}
		floats.Add(row, t.centre)
		largest := floats.Max(row)
		var sum float64
		for j, z := range row {
			row[j] = math.Exp(z - largest)
			sum += row[j]
		}
		floats.Scale(1/sum, row)
		ofClass[y][t.bins.of(row)]++
		if floats.MaxIdx(row) == y {
			hits[y]++
		}
	}
	expected := binnedCounts{t.source, make([]float64, len(t.target))}
	rows := floats.Sum(t.target)
	for i, y := range t.present {
		n := floats.Sum(ofClass[y])
		floats.AddScaled(expected.target, rows*t.q[i]/n, ofClass[y])
		right += t.q[i] * hits[y] / n
	}
	distance, err = newMoments(expected, t.pooled).minimise(slices.Clone(t.q), 0)
	return distance, right, err
}
