package normalise

import (
	"math"
	"slices"

	"iwda/datasets"
	"iwda/internal/convert"
)

// Statistics have a value for each feature of a row, or for each channel of an image.
type Statistics struct {
	Mean []float32 `json:"mean"`
	// Deviation is the standard deviation of the rows as a population, and 1 for a column
	// whose values are all the same; or what else values are divided by. It is positive.
	Deviation []float32 `json:"deviation"`
	// Range is what values are clipped to before anything else.
	Range
	// Constant are the numbers of those columns, ascending; not known of a model that was read.
	Constant []int `json:"-"`
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

// standardise changes a row in place to (x - mean)/deviation of clipped values x, each
// column, or each channel of an image, by its own.
func (s *Statistics) standardise(row []float32) {
	s.Clip(row)
	pixels := len(row) / len(s.Mean)
	for channel, mean := range s.Mean {
		of := row[channel*pixels : (channel+1)*pixels]
		for i, v := range of {
			of[i] = (v - mean) / s.Deviation[channel]
		}
	}
}

// standardised returns a view of a set whose rows are standardised.
func standardised(set datasets.Set, by Statistics) datasets.Set { return &changed{set, by.standardise} }

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

// farAway deviations leave next to nothing of a value, and no number so small that it slows
// products down.
const farAway = 1e20

// leaveOut changes the statistics so that standardising by them leaves next to nothing of some
// columns, whatever their values are elsewhere.
func (s *Statistics) leaveOut(columns []int) {
	for _, j := range columns {
		s.Deviation[j] = float32(min(farAway*max(1, math.Abs(float64(s.Mean[j])), float64(s.Deviation[j])), math.MaxFloat32))
	}
}

// foreign returns the columns that are constant in the target at a value which no row of the source
// has: they are dead there, while one that rows were selected by has a value that is known.
func foreign(source datasets.Set, target Statistics) (columns []int) {
	columns = slices.Clone(target.Constant)
	row := make([]float32, datasets.Size(source.Shape()))
	for i := 0; i < source.Len() && len(columns) > 0; i++ {
		source.CopyRow(row, i)
		columns = slices.DeleteFunc(columns, func(j int) bool { return row[j] == target.Mean[j] })
	}
	return columns
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

func (m *columnMoments) add(row []float32) {
	m.rows++
	share, means, squares := 1/m.rows, m.mean[:len(row)], m.squares[:len(row)]
	for j, v := range row {
		before := float64(v) - means[j]
		means[j] += before * share
		squares[j] += before * (float64(v) - means[j])
	}
}

// deviation returns the columns' standard deviations, of the rows as a population.
func (m *columnMoments) deviation() []float64 {
	return convert.Each(m.squares, func(squares float64) float64 { return math.Sqrt(squares / m.rows) })
}
