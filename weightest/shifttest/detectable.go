package shifttest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/internal/panels"
)

const (
	// power is the probability with which a loss is found that counts as detectable.
	power = 0.8
	// nullResamples are those that say which J is significant.
	nullResamples = 500
	// turns is the number of turns that are tried, each by rising angles.
	turns = 6
	// leastTurn and mostTurn are the angles between which a turn is sought, in radians.
	leastTurn, mostTurn = math.Pi / 180, math.Pi / 4
	// halvings narrow the angle at which a turn is found.
	halvings = 4
	// doubt is how many standard deviations J is taken to be too large, and a loss too small, as
	// the least of several angles is sought: research/labelshift.md has what then is found.
	doubt = 0.7
)

// turned are source rows whose logits are turned: what the target's might have become.
type turned struct {
	*null
	bins    binning
	present []int // classes, those of q
	labels  []int
	logits  []float64 // row-major n×k, about the target's mean
	origins []int     // the rows' bins
	right   []bool    // whether rows are predicted right
	centre  []float64 // that mean
}

// detectable returns the smallest loss of accuracy that the test finds in each of some turns of
// the logits, or +Inf. A turn is one by the same angle in the planes of pairs of classes, as if their
// features were turned: what classes have in common, of which probabilities say nothing, is
// drawn as if the logits of a class were independent.
//
// J of the distribution's expected counts is the noncentrality of the statistic, whose
// distribution without it is that of resamples under label shift. Counts of the few source rows of
// a class would make it too large: see noise.
//
// Swaps of pairs of classes are not sought: other class shares nearly explain them.
func detectable(s *weightest.Sample, n *null, bins binning, present []int) (float64, error) {
	random := rand.New(rand.NewPCG(n.seed, 0x7475726e))
	_, labels := s.Source()
	// What logits have in common is drawn several times, the more the fewer rows there are, and the
	// loss of a turn is the median: it changes less with the seed.
	copies := 1 + 2*min(4, 3000/len(labels))
	drawn := make([]*turned, copies)
	for i := range drawn {
		drawn[i] = newTurned(s, n, bins, present, random)
	}
	needed, err := n.needed()
	if err != nil {
		return 0, err
	}
	orders := turnOrders(s.Classes(), rand.New(rand.NewPCG(0, 0x7475726e)))
	losses, failures := make([]float64, copies*len(orders)), make([]error, copies*len(orders))
	panels.Each(len(losses), func(i int) {
		losses[i], failures[i] = drawn[i%copies].smallestLoss(orders[i/copies], needed)
	})
	if err := cmp.Or(failures...); err != nil {
		return 0, err
	}
	largest := 0.0
	for ofTurn := range slices.Chunk(losses, copies) {
		slices.Sort(ofTurn)
		largest = max(largest, ofTurn[copies/2])
	}
	return largest, nil
}

// turnOrders draws orders of k classes whose pairs, first with second and so on, are different
// turns: as many as are tried, or as there are.
func turnOrders(k int, random *rand.Rand) (orders [][]int) {
	const draws = 10 * turns
	var known [][][2]int
	for range draws {
		order := random.Perm(k)
		var pairs [][2]int
		for pair := range slices.Chunk(order[:k-k%2], 2) {
			pairs = append(pairs, [2]int(pair))
		}
		slices.SortFunc(pairs, func(a, b [2]int) int { return a[0] - b[0] })
		if slices.ContainsFunc(known, func(other [][2]int) bool { return slices.Equal(other, pairs) }) {
			continue
		}
		if known, orders = append(known, pairs), append(orders, order); len(orders) == turns {
			break
		}
	}
	return orders
}

func newTurned(s *weightest.Sample, n *null, bins binning, present []int, random *rand.Rand) *turned {
	k := s.Classes()
	source, labels := s.Source()
	t := &turned{n, bins, present, labels, calibration.CenteredLogs(source, k), make([]int, len(labels)), make([]bool, len(labels)), make([]float64, k)}
	for i, y := range labels {
		row := source[i*k : (i+1)*k]
		t.origins[i], t.right[i] = bins.of(row), floats.MaxIdx(row) == y
	}
	means := make([][]float64, k)
	for y := range means {
		means[y] = make([]float64, k)
	}
	for i, y := range labels {
		floats.Add(means[y], t.row(i))
	}
	for i, y := range present {
		floats.Scale(1/floats.Sum(n.source[i]), means[y])
		floats.AddScaled(t.centre, n.q[i], means[y])
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
func (n *null) needed() (float64, error) {
	values, err := n.statistics(0, nullResamples, 0)
	if err != nil {
		return 0, err
	}
	slices.Sort(values)
	critical := values[int(math.Ceil((1-Significance)*(nullResamples+1)))-1] // another one is above with that probability
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
	low, high := 0.0, leastTurn
	distance, loss, err := t.by(high, order)
	for ; err == nil && distance < needed; distance, loss, err = t.by(high, order) {
		if high >= mostTurn {
			return math.Inf(1), nil
		}
		low, high = high, min(2*high, mostTurn)
	}
	for range halvings {
		if err != nil {
			return 0, err
		}
		middle, found := (low+high)/2, loss
		if distance, loss, err = t.by(middle, order); distance >= needed {
			high = middle
		} else {
			low, loss = middle, found
		}
	}
	return max(0, loss), err
}

// by returns J of the counts to expect in a target of rows turned by an angle, and how many fewer
// of these are predicted right: both as far on the side of caution as the rows' noise asks for.
func (t *turned) by(angle float64, order []int) (distance, loss float64, err error) {
	k := len(t.centre)
	ofClass, row := make([][]float64, k), make([]float64, k)
	lost, changed := make([]float64, k), make([]float64, k)
	for _, y := range t.present {
		ofClass[y] = make([]float64, len(t.target))
	}
	sine, cosine := math.Sincos(angle)
	now := make([]int, len(t.labels))
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
		now[i] = t.bins.of(row)
		ofClass[y][now[i]]++
		if right := floats.MaxIdx(row) == y; right != t.right[i] {
			changed[y]++
			if lost[y]++; right {
				lost[y] -= 2
			}
		}
	}
	expected := binnedCounts{source: t.source, target: make([]float64, len(t.target))}
	rows, variance := floats.Sum(t.target), 0.0
	for i, y := range t.present {
		n := floats.Sum(ofClass[y])
		floats.AddScaled(expected.target, rows*t.q[i]/n, ofClass[y])
		mean := lost[y] / n
		loss += t.q[i] * mean
		variance += t.q[i] * t.q[i] * (changed[y]/n - mean*mean) / n
	}
	q, m := slices.Clone(t.q), newMoments(expected, t.pooled)
	if distance, err = m.minimise(q, 0); err != nil {
		return 0, 0, err
	}
	excess, deviation := t.noise(m, q, now)
	return distance - excess - doubt*deviation, loss + doubt*math.Sqrt(variance), nil
}

// noise returns by how much J is above that of the distribution that the rows are from, on
// average, and its standard deviation, for shares z that fit best and rows that are now in these
// bins. A row of class y that was in bin i and is in j adds
//
//	c = (q_y e_j - z_y e_i) / n_y
//
// to b - Az. With C the covariance of the rows' sum J gains tr(MC), M the part of Ω⁻¹ that no z
// explains, and its deviation is that of 2c·Ω⁻¹(b - Az).
func (t *turned) noise(m *moments, z []float64, now []int) (excess, deviation float64) {
	m.evaluate(z)
	kernel, place, number := m.kernel(z), m.places(t.pooled), make([]int, len(t.centre))
	for class, y := range t.present {
		number[y] = class
	}
	solved := append(slices.Clone(m.solved), 0)
	sums, slopes := mat.NewDense(m.classes, m.bins+1, nil), make([]float64, m.classes)
	var variance float64
	for row, y := range t.labels {
		y := number[y]
		i, j := place[t.origins[row]], place[now[row]]
		from, to := z[y]/m.sourceRows[y], t.q[y]/m.sourceRows[y]
		sums.Set(y, i, sums.At(y, i)-from)
		sums.Set(y, j, sums.At(y, j)+to)
		excess += to*to*kernel.At(j, j) - 2*to*from*kernel.At(i, j) + from*from*kernel.At(i, i)
		slope := 2 * (to*solved[j] - from*solved[i])
		slopes[y] += slope
		variance += slope * slope
	}
	for y, rows := range m.sourceRows {
		excess -= mat.Inner(sums.RowView(y), kernel, sums.RowView(y)) / rows
		variance -= slopes[y] * slopes[y] / rows
	}
	return excess, math.Sqrt(max(0, variance))
}
