package normalise

import (
	"math"
	"slices"

	"iwda/internal/simd"

	"iwda/datasets"
)

// Statistics describe the columns of a set: of rows of numbers, one value each.
type Statistics struct {
	// Range is what values are clipped to before anything else.
	Range Range
	Mean  []float32
	// Deviation is the standard deviation of the rows as a population, and 1 for a column
	// whose values are all the same.
	Deviation []float32
	// Constant are the numbers of those columns, ascending.
	Constant []int
}

// farAway is the number of deviations by which a column that is left out is divided: it
// leaves next to nothing of a value, and no number so small that it slows products down.
const farAway = 1e20

// LeaveOut changes the statistics of two domains so that standardising by them leaves next
// to nothing of a column that is constant in one of them and changes in the other, and
// returns the numbers of these columns, ascending. Such a column says nothing in the one
// domain, and where a network learns from it in the other, its value in the one may be any.
func LeaveOut(source, target *Statistics) []int {
	var columns []int
	for _, of := range []struct{ constant, changing *Statistics }{{source, target}, {target, source}} {
		for _, j := range of.constant.Constant {
			if _, both := slices.BinarySearch(of.changing.Constant, j); both {
				continue
			}
			columns = append(columns, j)
			away := min(farAway*max(1, of.changing.Deviation[j]), math.MaxFloat32)
			source.Deviation[j], target.Deviation[j] = away, away
		}
	}
	slices.Sort(columns)
	return columns
}

// StatisticsOf returns those of all rows of a set, computed in float64.
func StatisticsOf(set datasets.Set) Statistics {
	columns := columnMomentsOf(set)
	size, deviation := len(columns.mean), columns.deviation()
	s := Statistics{Mean: make([]float32, size), Deviation: make([]float32, size)}
	for j, mean := range columns.mean {
		s.Mean[j], s.Deviation[j] = float32(mean), float32(deviation[j])
		if s.Deviation[j] == 0 {
			s.Deviation[j] = 1
			s.Constant = append(s.Constant, j)
		}
	}
	return s
}

// columnMoments are those of the rows that were added, by Welford's method.
type columnMoments struct {
	rows    float64
	mean    []float64
	squares []float64 // sums of squared distances from the mean
}

func newColumnMoments(columns int) *columnMoments {
	return &columnMoments{mean: make([]float64, columns), squares: make([]float64, columns)}
}

// columnMomentsOf returns those of all rows of a set.
func columnMomentsOf(set datasets.Set) *columnMoments {
	row := make([]float32, datasets.Size(set.Shape()))
	m := newColumnMoments(len(row))
	for i := range set.Len() {
		set.CopyRow(row, i)
		m.add(row)
	}
	return m
}

// deviation returns the columns' standard deviations, of the rows as a population.
func (m *columnMoments) deviation() []float64 {
	deviation := make([]float64, len(m.squares))
	for j, squares := range m.squares {
		deviation[j] = math.Sqrt(squares / m.rows)
	}
	return deviation
}

func (m *columnMoments) add(row []float32) {
	m.rows++
	share, means, squares := 1/m.rows, m.mean[:len(row)], m.squares[:len(row)]
	for j, v := range row {
		before := float64(v) - means[j]
		means[j] += before * share
		squares[j] += before * (float64(v) - means[j])
	}
}

// Standardise changes a row in place to (x - mean)/deviation of clipped values x, each
// column by its own.
func (s Statistics) Standardise(row []float32) {
	s.Range.Clip(row)
	simd.Standardise(row, s.Mean, s.Deviation)
}

// Standardised returns a view of a set whose values are (x - mean)/deviation of clipped
// values x, each column by its own.
func Standardised(set datasets.Set, by Statistics) datasets.Set { return &changed{set, by.Standardise} }

// UnitLength returns a view of a set whose rows are x/‖x‖; rows of zeros stay so.
func UnitLength(set datasets.Set) datasets.Set { return &changed{set, ScaleToUnitLength} }

// changed is a view of a set whose rows are changed in place once they are copied.
type changed struct {
	datasets.Set
	change func(row []float32)
}

// CopyRow copies a row and changes it.
func (c *changed) CopyRow(dst []float32, i int) {
	c.Set.CopyRow(dst, i)
	c.change(dst)
}

// ScaleToUnitLength changes a row in place to x/‖x‖; a row of zeros stays so.
func ScaleToUnitLength(row []float32) {
	squares := 0.0
	for _, v := range row {
		squares += float64(v) * float64(v)
	}
	const shortest = 1e-12 // a row of zeros stays one
	length := max(math.Sqrt(squares), shortest)
	for j, v := range row {
		row[j] = float32(float64(v) / length)
	}
}
