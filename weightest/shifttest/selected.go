package shifttest

import (
	"cmp"
	"slices"

	"iwda/internal/evenly"
	"iwda/weightest"
)

// The ranges of a column within which its other columns are compared: so many at most, each with source rows enough
// for a mean. research/suite/gaps.md has what was compared.
const mostRanges, fewestRows = 40, 3

// SelectedAlong asks of each column whether the target may be rows like the source's that were selected by it alone.
// Then rows within a small range of the column are alike in both domains, so that ranges are classes of a label
// shift whose labels are known, and the other columns are compared as [ColumnSums] does. Values are n×d and m×d,
// standardised by the source; columns lists the places of the values that each column became, words among them, and
// groups the numbers of rows that belong together (n and m; nil: each is on its own). It returns the column of which the
// p-value is largest.
func SelectedAlong(source, target []float32, columns [][]int, sourceGroups, targetGroups []int) (column int, p float64, err error) {
	d := 0
	for _, places := range columns {
		d += len(places)
	}
	n := len(source) / d
	for c, places := range columns {
		ranges := rangesOf(append(codes(source, d, places), codes(target, d, places)...), n)
		k := slices.Max(ranges) + 1
		known := make([]float64, len(ranges)*k)
		q := make([]float64, k)
		for i, r := range ranges {
			known[i*k+r] = 1
			if i >= n {
				q[r] += 1 / float64(len(ranges)-n)
			}
		}
		sample, err := weightest.SampleOf(k, known[:n*k], ranges[:n], known[n*k:])
		if err != nil {
			return 0, 0, err
		}
		sample.Group(sourceGroups, targetGroups)
		sums, err := NewColumnSums(sample, q, d)
		if err != nil {
			return 0, 0, err
		}
		sums.without = places
		sums.AddSource(source, ranges[:n], sourceGroups)
		sums.AddTarget(target)
		found, err := sums.Test()
		if err != nil {
			return 0, 0, err
		}
		if found.P > p {
			column, p = c, found.P
		}
	}
	return column, p, nil
}

// codes returns a number for each row of d values, by which a column that became those places orders it: further places
// are those of words, or of what is missing, of which at most one is above its lowest value.
func codes(values []float32, d int, places []int) []float32 {
	all := make([]float32, len(values)/d)
	for i := range all {
		row := values[i*d : (i+1)*d]
		all[i] = row[places[0]]
		for word, at := range places[1:] {
			if row[at] > 0 {
				all[i] = float32(word+1) * 1e6
			}
		}
	}
	return all
}

// rangesOf divides rows by their codes, the first n of which are the source's, and returns the number of each row's range.
func rangesOf(codes []float32, n int) []int {
	order := evenly.All(len(codes))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(codes[i], codes[j]) })
	ranges := make([]int, len(codes))
	last, rows, ofSource, left := 0, 0, 0, n // of the source's rows
	for at, i := range order {
		if at > 0 && codes[i] > codes[order[at-1]] && rows*mostRanges >= len(codes) && min(ofSource, left) >= fewestRows {
			last, rows, ofSource = last+1, 0, 0
		}
		ranges[i] = last
		rows++
		if i < n {
			ofSource, left = ofSource+1, left-1
		}
	}
	return ranges
}
