package shifttest

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/weightest"
)

// binRows is the smallest number of rows of both domains in a bin.
const binRows = 10

// binnedCounts are numbers of rows in bins of predicted class and certainty.
type binnedCounts struct {
	source [][]float64 // k×bins: the source rows of each class
	target []float64   // length bins
}

// predictedRow is a row's number, source rows before target rows, with the probability of
// the class that it is predicted as.
type predictedRow struct {
	row       int
	certainty float64
}

// binCertainty counts the rows of a sample in bins: those predicted as a class are split
// into thirds by that class's probability, both domains together, rows of equal
// probability not apart. A bin of fewer than binRows rows is merged with its smaller
// neighbour, if it can be of the same class.
func binCertainty(s *weightest.Sample) binnedCounts {
	k := s.Classes()
	source, labels := s.Source()
	predicted := make([][]predictedRow, k)
	n := len(labels)
	for _, rows := range []struct {
		probabilities []float64
		first         int
	}{{source, 0}, {s.Target(), n}} {
		for i := range len(rows.probabilities) / k {
			row := rows.probabilities[i*k : (i+1)*k]
			class := floats.MaxIdx(row)
			predicted[class] = append(predicted[class], predictedRow{rows.first + i, row[class]})
		}
	}
	var bins [][]predictedRow
	for _, rows := range predicted {
		bins = append(bins, mergeSmall(thirds(rows))...)
	}
	bins = mergeSmall(bins)

	counts := binnedCounts{source: make([][]float64, k), target: make([]float64, len(bins))}
	for y := range counts.source {
		counts.source[y] = make([]float64, len(bins))
	}
	for bin, rows := range bins {
		for _, r := range rows {
			if r.row < n {
				counts.source[labels[r.row]][bin]++
			} else {
				counts.target[bin]++
			}
		}
	}
	return counts
}

// thirds sorts the rows and cuts them in up to three parts, none of them empty.
func thirds(rows []predictedRow) [][]predictedRow {
	slices.SortFunc(rows, func(a, b predictedRow) int { return cmp.Compare(a.certainty, b.certainty) })
	var parts [][]predictedRow
	first := 0
	for third := 1; third <= 3; third++ {
		last := third * len(rows) / 3
		for last > 0 && last < len(rows) && rows[last].certainty == rows[last-1].certainty {
			last++
		}
		if last > first {
			parts = append(parts, rows[first:last])
			first = last
		}
	}
	return parts
}

// mergeSmall merges bins of fewer than binRows rows with their smaller neighbour, the
// smallest bin first, until there is none or a single bin.
func mergeSmall(bins [][]predictedRow) [][]predictedRow {
	for len(bins) > 1 {
		smallest := 0
		for i, bin := range bins {
			if len(bin) < len(bins[smallest]) {
				smallest = i
			}
		}
		if len(bins[smallest]) >= binRows {
			break
		}
		// The left one of the two bins that become one.
		left := smallest
		if smallest == len(bins)-1 || smallest > 0 && len(bins[smallest-1]) < len(bins[smallest+1]) {
			left--
		}
		bins[left] = slices.Concat(bins[left], bins[left+1])
		bins = slices.Delete(bins, left+1, left+2)
	}
	return bins
}
