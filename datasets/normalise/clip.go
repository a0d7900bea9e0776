package normalise

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/internal/evenly"
)

// Range bounds the values of columns; nil slices bound none.
type Range struct {
	Low  []float32 `json:"low,omitempty"`
	High []float32 `json:"high,omitempty"`
}

// Clip brings the values of a row to the bounds that they exceed.
func (r Range) Clip(row []float32) {
	if r.Low == nil {
		return
	}
	low, high := r.Low[:len(row)], r.High[:len(row)]
	for j, v := range row {
		row[j] = min(max(v, low[j]), high[j])
	}
}

// rangeOf is from the least to the largest value of each column, and beyond by so many times their distance.
func rangeOf(set datasets.Set, beyond float32) (r Range) {
	row := make([]float32, datasets.Size(set.Shape()))
	for i := range set.Len() {
		if set.CopyRow(row, i); i == 0 {
			r = Range{slices.Clone(row), slices.Clone(row)}
		}
		for j, v := range row {
			r.Low[j], r.High[j] = min(r.Low[j], v), max(r.High[j], v)
		}
	}
	for j, low := range r.Low {
		width := beyond * (r.High[j] - low)
		r.Low[j], r.High[j] = low-width, r.High[j]+width
	}
	return r
}

// Clipped returns a view of a set whose values are clipped.
func Clipped(set datasets.Set, to Range) datasets.Set {
	if to.Low == nil {
		return set
	}
	return &changed{set, to.Clip}
}

// When a column's values count as far from all others.
const (
	farDeviations = 3    // of the values that are clipped there
	farShare      = 0.5  // of the column's variance, which clipping takes away
	farOfMajority = 0.99 // the same where most rows have one value, as units at rest have
)

// Ranges finds the columns in which a few values far from all others hold most of the
// variance in one of two domains: wild rows, marks of missing values such as -999, long
// tails. Standardised by their own mean and deviation, all other values look alike. The
// ranges bound these columns in both domains, each by its own mean ± that many deviations of
// the values so clipped, a fixed point. Columns of which nothing would be left there, as of
// rare indicators, are bounded at three deviations or not at all. columns has the numbers of
// the others, ascending; where there is none, both ranges are empty.
func Ranges(source, target datasets.Set, deviations float64) (ofSource, ofTarget Range, columns []int) {
	all := evenly.All(datasets.Size(source.Shape()))
	domains := []*spread{newSpread(source), newSpread(target)}
	for _, s := range domains {
		plain := slices.Clone(s.deviation)
		s.clip(all, farDeviations)
		for j, before := range plain {
			far := farShare
			if s.majority[j] > 0.5 {
				far = farOfMajority
			}
			if after := s.deviation[j]; after*after < (1-far)*before*before {
				columns = append(columns, j)
			}
		}
	}
	if len(columns) == 0 {
		return Range{}, Range{}, nil
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	for _, s := range domains {
		s.clip(columns, deviations)
	}
	return domains[0].rangeOf(columns), domains[1].rangeOf(columns), columns
}

// clippedRows bounds the rows, drawn evenly, on which the fixed points are found.
const clippedRows = 100_000

// spread are mean and deviation of a set's columns, of values clipped at so many of these
// deviations.
type spread struct {
	rows            datasets.Set
	mean, deviation []float64
	deviations      []float64 // at which each column was last clipped; 0 where it was not
	majority        []float64 // of each column, see majorities
}

func newSpread(set datasets.Set) *spread {
	m, rows := columnMomentsOf(set), datasets.Evenly(set, clippedRows)
	return &spread{
		rows: rows, mean: m.mean, deviation: m.deviation(),
		deviations: make([]float64, len(m.mean)), majority: majorities(rows, len(m.mean)),
	}
}

// clip changes mean and deviation to those of values that are clipped at so many of
// them, column by column. Columns of which nothing would be left keep what they have: where a
// share q of the rows, more than half, has one value and all others have another, these are
// √(q/(1-q)) deviations from the mean. If that is more than the number at which they are
// clipped, it still is after clipping, and the deviation goes to 0.
func (s *spread) clip(columns []int, deviations float64) {
	const (
		mostPasses = 200
		atRest     = 0.95 // of the deviation before a pass
	)
	var live []int
	for _, j := range columns {
		if q := s.majority[j]; q <= 0.5 || deviations*deviations*(1-q) > q {
			live, s.deviations[j] = append(live, j), deviations
		}
	}
	for pass := 0; pass < mostPasses && len(live) > 0; pass++ {
		mean, deviation := s.clippedMoments(live)
		moving := live[:0]
		for at, j := range live {
			if deviation[at] < atRest*s.deviation[j] {
				s.mean[j], s.deviation[j] = mean[at], deviation[at]
				moving = append(moving, j)
			}
		}
		live = moving
	}
}

// clippedMoments are those of some columns, in their order, once they are clipped.
func (s *spread) clippedMoments(columns []int) (mean, deviation []float64) {
	m, row, values := newColumnMoments(len(columns)), make([]float32, len(s.mean)), make([]float32, len(columns))
	to := newRange(len(columns))
	for at, j := range columns {
		to.Low[at], to.High[at] = s.bounds(j)
	}
	for i := range s.rows.Len() {
		s.rows.CopyRow(row, i)
		for at, j := range columns {
			values[at] = row[j]
		}
		to.Clip(values)
		m.add(values)
	}
	return m.mean, m.deviation()
}

// bounds are those of a column, at as many deviations as it was last clipped at, float32 numbers.
func (s *spread) bounds(j int) (low, high float32) {
	width := s.deviations[j] * s.deviation[j]
	return float32(max(s.mean[j]-width, -math.MaxFloat32)), float32(min(s.mean[j]+width, math.MaxFloat32))
}

// rangeOf bounds the columns that were clipped, and no other.
func (s *spread) rangeOf(columns []int) Range {
	r := newRange(len(s.mean))
	for j := range s.mean {
		r.Low[j], r.High[j] = -math.MaxFloat32, math.MaxFloat32
	}
	for _, j := range columns {
		if s.deviations[j] > 0 {
			r.Low[j], r.High[j] = s.bounds(j)
		}
	}
	return r
}

func newRange(columns int) Range { return Range{make([]float32, columns), make([]float32, columns)} }

// majorities returns, by column, the share of the rows that has the value of more than half
// of them, and at most a half where there is no such value (Boyer and Moore 1981).
func majorities(set datasets.Set, columns int) []float64 {
	row := make([]float32, columns)
	candidates, votes, counts := make([]float32, columns), make([]int, columns), make([]float64, columns)
	for i := range set.Len() {
		set.CopyRow(row, i)
		for j, v := range row {
			switch {
			case v == candidates[j]:
				votes[j]++
			case votes[j] == 0:
				candidates[j], votes[j] = v, 1
			default:
				votes[j]--
			}
		}
	}
	if slices.Max(votes) == 0 {
		return counts
	}
	for i := range set.Len() {
		set.CopyRow(row, i)
		for j, v := range row {
			if v == candidates[j] {
				counts[j]++
			}
		}
	}
	floats.Scale(1/float64(set.Len()), counts)
	return counts
}
