package shifttest

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/weightest"
)

// binRows is the smallest number of rows of both domains in a bin.
const binRows = 10

// PerClass is the number of bins for each predicted class.
const PerClass = 3

// Bins are those of predicted class and certainty, PerClass for each class: thirds of the
// rows predicted as it, by its probability. Rows of equal probability are in one bin. Of each
// predicted class it has the least certainties of the second and third bin; one that no row reaches,
// as certainty is at most 1, begins at 2.
type Bins [][]float64

// NewBins returns the bins of rows of k probabilities, row-major n×k, of all domains together.
func NewBins(k int, domains ...[]float64) Bins {
	certainties := make([][]float64, k)
	for _, rows := range domains {
		for row := range slices.Chunk(rows, k) {
			class := floats.MaxIdx(row)
			certainties[class] = append(certainties[class], row[class])
		}
	}
	b := make(Bins, k)
	for class, values := range certainties {
		slices.Sort(values)
		for part := 1; part < PerClass; part++ {
			limit := 2.0
			if len(values) > 0 {
				limit = values[part*len(values)/PerClass]
			}
			b[class] = append(b[class], limit)
		}
	}
	return b
}

// Of returns the number of the bin of a row of probabilities, class·PerClass + third.
func (b Bins) Of(row []float64) int {
	class := floats.MaxIdx(row)
	bin := class * PerClass
	for _, limit := range b[class] {
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
	// grouped are the counts of groups of rows, if some belong together; the others are of as many rows on their
	// own as say as much.
	grouped *groupedCounts
}

// merged are bins that count as one, with their rows of both domains.
type merged struct {
	bins []int
	rows int
}

// binning are Bins of which those with fewer than binRows rows are merged with their smaller
// neighbour, if it can be of the same class.
type binning struct {
	bins   Bins
	number []int // of the merged bin that each is in
	merged int   // their number
}

// newBinning returns the bins of a sample's rows, of both domains together.
func newBinning(s *weightest.Sample) binning {
	k := s.Classes()
	source, _ := s.Source()
	b := binning{bins: NewBins(k, source, s.Target()), number: make([]int, k*PerClass)}
	rows := make([]int, k*PerClass) // or groups
	sourceGroups, targetGroups := s.Groups()
	for i, domain := range [][]float64{source, s.Target()} {
		groups := [][]int{sourceGroups, targetGroups}[i]
		seen := make(map[[2]int]bool)
		for j, row := range slices.Collect(slices.Chunk(domain, k)) {
			bin := b.bins.Of(row)
			if groups != nil {
				if seen[[2]int{bin, groups[j]}] {
					continue
				}
				seen[[2]int{bin, groups[j]}] = true
			}
			rows[bin]++
		}
	}
	var bins []merged
	for class := range k {
		var ofClass []merged
		for bin := class * PerClass; bin < (class+1)*PerClass; bin++ {
			if rows[bin] > 0 {
				ofClass = append(ofClass, merged{[]int{bin}, rows[bin]})
			}
		}
		bins = append(bins, mergeSmall(ofClass)...)
	}
	bins = mergeSmall(bins)
	b.merged = len(bins)
	for i, m := range bins {
		for _, bin := range m.bins {
			b.number[bin] = i
		}
	}
	return b
}

// of returns the number of a row's merged bin.
func (b binning) of(row []float64) int { return b.number[b.bins.Of(row)] }

// binCertainty counts the rows of a sample in its bins.
func binCertainty(s *weightest.Sample) binnedCounts {
	k, b := s.Classes(), newBinning(s)
	if sourceGroups, targetGroups := s.Groups(); sourceGroups != nil || targetGroups != nil {
		return binGroups(s, b.merged, b.of).effective()
	}
	source, labels := s.Source()
	counts := binnedCounts{source: make([][]float64, k), target: make([]float64, b.merged)}
	for y := range k {
		counts.source[y] = make([]float64, b.merged)
	}
	for i, y := range labels {
		counts.source[y][b.of(source[i*k:(i+1)*k])]++
	}
	for row := range slices.Chunk(s.Target(), k) {
		counts.target[b.of(row)]++
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
