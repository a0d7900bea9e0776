package adapt

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"iwda/datasets"
)

// sets looks for rows that have the same values as one before them, though a column has many values, and in a table for
// rows that come in sets, as the visits of a patient whom no column names: all of a set have the same values in all
// columns but some, and there are so many rows with the same values, or twice as many, as independent rows never are.
func (b *belonging) sets(source rowSet, s looked, columns []column) {
	left, most, deviations := make([]bool, len(columns)), 1, 0.0
	values := make([]float64, len(columns)) // different ones of each column
	for j, c := range columns {
		left[j], values[j] = c.learnt.Apart != "", float64(s.different(c))
	}
	for next := 0; next >= 0; {
		copies, cells, part := cellsOf(source, columns, left)
		if most == 1 {
			b.copied(source, s, copies)
		}
		next = -1
		for j := range cells {
			rows, combinations := 0, 1.0 // of columns' values
			for _, n := range cells[j] {
				rows += n
			}
			for i, n := range values {
				if i != j && !left[i] {
					combinations *= n
				}
			}
			if len(cells[j]) < fewestLevels || mostAlone(cells[j], rows) || float64(part*len(cells[j])) > wholeDesign*combinations {
				continue
			}
			if size, by := setsOf(cells[j]); by >= surelyFewer && (size > most || size == most && next >= 0 && by > deviations) {
				next, most, deviations = j, size, by
			}
		}
		if next >= 0 {
			left[next] = true
		}
	}
	if most == 1 || b.sure.because != "" {
		return
	}
	for j, c := range columns {
		if !left[j] {
			b.sure.by = append(b.sure.by, c.name)
		}
	}
	b.sure.because, b.sure.evidence = inSets(most, deviations)
}

// inSets says that rows come in sets of a size, and the evidence by so many standard errors.
func inSets(size int, by float64) (because, evidence string) {
	return fmt.Sprintf("they come in sets of %d, as independent rows do not", size), fmt.Sprintf("there are more sets of %d rows, or a multiple, than independent rows could make, by %.0f standard errors", size, by)
}

// mostAlone tells that most of so many rows have a cell of their own.
func mostAlone[K comparable](cells map[K]int, rows int) bool {
	alone := 0
	for _, n := range cells {
		if n == 1 {
			alone++
		}
	}
	return 2*alone > rows
}

// copied warns of rows that have the same values as one before them, though a column has many values.
func (b *belonging) copied(source rowSet, s looked, copies int) {
	s.values = s.values[:min(200*s.width, len(s.values))]
	continuous := false
	for j := 0; j < s.width && !continuous; j++ {
		continuous = 2*s.different(column{from: j, to: j + 1}) > len(s.values)/s.width
	}
	share := float64(copies) / float64(source.Len())
	if !continuous || share < worthCopies {
		return
	}
	b.warnings = append(b.warnings, fmt.Sprintf("%d of %d rows of the source (%.0f%%) have exactly the values of another row. If they are copies, remove them; if they belong together, name the column that says so with --group-column: otherwise accuracies are too high, and intervals too narrow.", copies, source.Len(), 100*share))
	if share >= blatantCopies {
		b.say(fmt.Sprintf("%.0f%% of the source's rows are copies of others", 100*share))
	}
}

// cellsOf counts the rows that have the values of one before them, and for each column the rows that have the same
// values if it is left out, as those are that were left out before: those of every part-th cell, by chance, if there are
// many rows.
func cellsOf(source rowSet, columns []column, left []bool) (copies int, cells []map[uint64]int, part int) {
	part = 1 + source.Len()/mostLooked
	seen, row, hashes := map[uint64]bool{}, make([]float32, datasets.Size(source.Shape())), make([]uint64, len(columns))
	for range columns {
		cells = append(cells, map[uint64]int{})
	}
	for i := range source.Len() {
		source.CopyRow(row, i)
		var all uint64
		for j, c := range columns {
			hashes[j] = c.hash(row)
			all += hashes[j]
		}
		if columns == nil { // of an array
			all = column{to: len(row)}.hash(row)
		}
		if seen[all] {
			copies++
		}
		seen[all] = true
		for j, hash := range hashes {
			if left[j] {
				all -= hash
			}
		}
		for j, hash := range hashes {
			if cell := all - hash; !left[j] && cell%uint64(part) == 0 {
				cells[j][cell]++
			}
		}
	}
	return copies, cells, part
}

// hash is that of the column's values in a row. That of several columns is the sum.
func (c column) hash(row []float32) (sum uint64) {
	for at := c.from; at < c.to; at++ {
		if v := row[at]; v != 0 { // as most of those of words are
			h := (uint64(at)<<32 | uint64(math.Float32bits(v))) + 0x9e3779b97f4a7c15
			h = (h ^ h>>30) * 0xbf58476d1ce4e5b9 // the finaliser of SplitMix64 (Steele, Lea and Flood 2014)
			h = (h ^ h>>27) * 0x94d049bb133111eb
			sum += h ^ h>>31
		}
	}
	return sum
}

// setsOf finds the largest size of sets in which rows seem to come: most cells have so many rows, or a multiple, by some
// standard errors more than independent rows could have. The number n_k of cells of k of these has Poisson
// distributions, mixed as the values are, however they are distributed, so the mean of k!·n_k is a moment and its square
// at most the product of those of both neighbours (Cauchy and Schwarz): the mean of n_k is at most
// √(1+1/k)·(t·n_{k−1} + n_{k+1}/t)/2 for every t.
func setsOf[K comparable](cells map[K]int) (size int, deviations float64) {
	count := map[int]float64{} // of cells, by their rows
	for _, rows := range cells {
		count[rows]++
	}
	sizes := slices.Sorted(maps.Keys(count))
	for m := 2; m <= min(mostInSet, sizes[len(sizes)-1]); m++ {
		multiples, most := 0.0, 0.0
		for _, t := range []float64{0.25, 1, 4} {
			excess, variance := 0.0, 0.0
			multiples = 0
			for _, k := range sizes {
				weight, rows := 0.0, float64(k)
				if k%m == 0 {
					weight, multiples = 1, multiples+count[k]
				}
				if (k+1)%m == 0 {
					weight -= t * math.Sqrt(1+1/(rows+1)) / 2
				}
				if k > m && (k-1)%m == 0 {
					weight -= math.Sqrt(1+1/(rows-1)) / t / 2
				}
				excess, variance = excess+weight*count[k], variance+weight*weight*count[k]
			}
			if variance > 0 {
				most = max(most, excess/math.Sqrt(variance))
			}
		}
		if 2*multiples >= float64(len(cells)) && most >= surelyFewer {
			size, deviations = m, most
		}
	}
	return size, deviations
}
