package boosting

import (
	"math"
	"slices"

	"iwda/internal/evenly"
	"iwda/internal/parallel"
	"iwda/learners"
	"iwda/learners/internal/trees"
)

const (
	mostBins = 256 // of a column, with that of missing values
	// mostCells bounds those of all histograms of one tree, 200 MB: many columns have fewer bins.
	mostCells = 1 << 23
	// mostSorted bounds the values from which the borders of a column's bins are found.
	mostSorted = 200_000
)

// feature is a column of numbers, or the columns of a word's levels, in bins.
type feature struct {
	columns []int
	// borders of numbers: bin b has the values up to borders[b], the last one those above all, and
	// those that are missing follow in one more. Of a word: a row has a level if the value in that
	// column is above the border; levels have bins from 1 on, and bin 0 is of rows that have none.
	borders []float32
	word    bool
	bins    []uint8 // of each row
	first   int     // where its cells begin in histograms
}

// cells is the number of those of a histogram.
func (f *feature) cells() int {
	if f.word {
		return len(f.borders) + 1
	}
	return len(f.borders) + 2
}

// table is all columns in bins.
type table struct {
	rows     int
	features []*feature // those that differ
	cells    int        // of a histogram of all
}

// binned puts the rows' columns into bins.
func binned(rows learners.Rows, s Settings) *table {
	n, d := len(rows.Labels), rows.Columns()
	all, inWord := []*feature(nil), make([]bool, d)
	for _, columns := range rows.Words {
		if len(columns) > 1 && len(columns) < mostBins {
			all = append(all, &feature{columns: columns, word: true})
			for _, column := range columns {
				inWord[column] = true
			}
		}
	}
	for column := range d {
		if !inWord[column] {
			all = append(all, &feature{columns: []int{column}})
		}
	}
	most := max(15, min(mostBins, mostCells/(len(all)*(s.Leaves+1)))) - 2 // borders
	parallel.Each(s.threads, len(all), func(_, i int) {
		if f := all[i]; f.word {
			f.binWords(rows.Values, d, n)
		} else {
			f.binNumbers(rows.Values, d, n, most)
		}
	})
	t := &table{rows: n}
	for _, f := range all {
		if slices.Max(f.bins) > slices.Min(f.bins) {
			f.first = t.cells
			t.features, t.cells = append(t.features, f), t.cells+f.cells()
		}
	}
	return t
}

func (f *feature) binWords(values []float32, d, n int) {
	f.bins = make([]uint8, n)
	for level, column := range f.columns {
		low, high := float32(math.Inf(1)), float32(math.Inf(-1))
		for at := column; at < len(values); at += d {
			if v := values[at]; v == v {
				low, high = min(low, v), max(high, v)
			}
		}
		f.borders = append(f.borders, trees.Halfway(low, high))
		for i := range n {
			if f.bins[i] == 0 && values[i*d+column] > f.borders[level] {
				f.bins[i] = uint8(level + 1)
			}
		}
	}
}

func (f *feature) binNumbers(values []float32, d, n, most int) {
	there := make([]float32, 0, min(n, mostSorted))
	for _, i := range evenly.Rows(n, mostSorted) {
		if v := values[i*d+f.columns[0]]; v == v {
			there = append(there, v)
		}
	}
	slices.Sort(there)
	f.borders = borders(there, most)
	f.bins = make([]uint8, n)
	for i := range n {
		bin := len(f.borders) + 1
		if v := values[i*d+f.columns[0]]; v == v {
			bin, _ = slices.BinarySearch(f.borders, v)
		}
		f.bins[i] = uint8(bin)
	}
}

// borders returns at most that many borders between sorted values: between any two that differ if
// there are no more of these, and else where equal shares of the values end.
func borders(values []float32, most int) (borders []float32) {
	var ends []int // places at which a value begins that differs from the one before
	for i := 1; i < len(values); i++ {
		if values[i] != values[i-1] {
			ends = append(ends, i)
		}
	}
	last := 0
	for _, end := range ends {
		if len(ends) > most { // is it the first one past a quantile?
			if quantile := end * (most + 1) / len(values); quantile == last {
				continue
			} else {
				last = quantile
			}
		}
		borders = append(borders, trees.Halfway(values[end-1], values[end]))
	}
	return borders[:min(len(borders), most)]
}
