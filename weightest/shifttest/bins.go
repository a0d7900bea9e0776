package shifttest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/weightest"
)

// binRows is the smallest number of rows of both domains in a bin.
const binRows = 10

// PerClass is the number of bins for each predicted class.
const PerClass = 3

// Bins are those of predicted class and certainty, PerClass for each class: thirds of the
// rows predicted as it, by its probability. Rows of equal probability are in one bin.
type Bins struct{ limits [][]float64 } // of each predicted class, rising: the next bin's least certainty

// NewBins returns the bins of rows of k probabilities, row-major n×k, of all domains together.
func NewBins(k int, domains ...[]float64) Bins {
	certainties := make([][]float64, k)
	for _, rows := range domains {
		for row := range slices.Chunk(rows, k) {
			class := floats.MaxIdx(row)
			certainties[class] = append(certainties[class], row[class])
		}
	}
	b := Bins{make([][]float64, k)}
	for class, values := range certainties {
		slices.Sort(values)
		for part := 1; part < PerClass; part++ {
			limit := math.Inf(1)
			if len(values) > 0 {
				limit = values[part*len(values)/PerClass]
			}
			b.limits[class] = append(b.limits[class], limit)
		}
	}
	return b
}

// Of returns the number of the bin of a row of probabilities, class·PerClass + third.
func (b Bins) Of(row []float64) int {
	class := floats.MaxIdx(row)
	bin := class * PerClass
	for _, limit := range b.limits[class] {
		if row[class] >= limit {
			bin++
		}
	}
	return bin
}

// binnedCounts are numbers of rows in bins.
type binnedCounts struct {
	source [][]float64 // k×bins: the source rows of each class
	target []float64   // length bins
}

// merged are bins that count as one, with their rows of both domains.
type merged struct {
	bins []int
	rows int
}

// binCertainty counts the rows of a sample in Bins. A bin of fewer than binRows rows is merged
// with its smaller neighbour, if it can be of the same class.
func binCertainty(s *weightest.Sample) binnedCounts {
	k := s.Classes()
	source, labels := s.Source()
	of := NewBins(k, source, s.Target())
	fine := make([]merged, k*PerClass)
	for bin := range fine {
		fine[bin].bins = []int{bin}
	}
	binsOf := func(rows []float64) []int {
		bins := make([]int, 0, len(rows)/k)
		for row := range slices.Chunk(rows, k) {
			bin := of.Of(row)
			fine[bin].rows++
			bins = append(bins, bin)
		}
		return bins
	}
	ofSource, ofTarget := binsOf(source), binsOf(s.Target())
	var bins []merged
	for class := range slices.Chunk(fine, PerClass) {
		class = slices.DeleteFunc(class, func(m merged) bool { return m.rows == 0 })
		bins = append(bins, mergeSmall(class)...)
	}
	number := make([]int, k*PerClass) // of the merged bin
	bins = mergeSmall(bins)
	for i, m := range bins {
		for _, bin := range m.bins {
			number[bin] = i
		}
	}

	counts := binnedCounts{source: make([][]float64, k), target: make([]float64, len(bins))}
	for y := range counts.source {
		counts.source[y] = make([]float64, len(bins))
	}
	for i, y := range labels {
		counts.source[y][number[ofSource[i]]]++
	}
	for _, bin := range ofTarget {
		counts.target[number[bin]]++
	}
	return counts
}

// mergeSmall merges bins of fewer than binRows rows with their smaller neighbour, the
// smallest bin first, until there is none or a single bin.
func mergeSmall(bins []merged) []merged {
	for len(bins) > 1 {
		smallest := 0
		for i, bin := range bins {
			if bin.rows < bins[smallest].rows {
				smallest = i
			}
		}
		if bins[smallest].rows >= binRows {
			break
		}
		// The left one of the two bins that become one.
		left := smallest
		if smallest == len(bins)-1 || smallest > 0 && bins[smallest-1].rows < bins[smallest+1].rows {
			left--
		}
		bins[left] = merged{slices.Concat(bins[left].bins, bins[left+1].bins), bins[left].rows + bins[left+1].rows}
		bins = slices.Delete(bins, left+1, left+2)
	}
	return bins
}
