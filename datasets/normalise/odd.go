package normalise

import (
	"slices"

	"iwda/datasets"
)

// Mark is a value that looks like a mark of missing ones, as -999 does.
type Mark struct {
	Column int
	Value  float32
	Rows   int // that have it
}

// Marks returns, by column, the least or the largest value of those columns in which several
// rows share it and it lies farther from all others than twice their range, or one row has it and it lies
// farther than a thousand times that. A column of fewer than three different values has none.
func Marks(set datasets.Set) []Mark {
	size := datasets.Size(set.Shape())
	least, most, row := make([]extreme, size), make([]extreme, size), make([]float32, size)
	for i := range set.Len() {
		set.CopyRow(row, i)
		for j, v := range row {
			least[j].add(v, i == 0)
			most[j].add(-v, i == 0)
		}
	}
	var marks []Mark
	for j := range row {
		low, high := least[j], most[j]
		if low.isMark(-high.value) {
			marks = append(marks, Mark{j, low.value, low.rows})
		} else if high.isMark(-low.value) {
			marks = append(marks, Mark{j, -high.value, high.rows})
		}
	}
	return marks
}

// extreme is the least value, the number of rows that have it, and the least of the others.
type extreme struct {
	value, next float32
	rows        int
	others      bool
}

func (e *extreme) add(v float32, first bool) {
	switch {
	case first:
		e.value, e.rows = v, 1
	case v == e.value:
		e.rows++
	case v < e.value:
		*e = extreme{value: v, next: e.value, rows: 1, others: true}
	case !e.others || v < e.next:
		e.next, e.others = v, true
	}
}

// isMark reports whether the value lies apart from those between next and the largest.
func (e extreme) isMark(largest float32) bool {
	apart := 2.0
	if e.rows == 1 {
		apart = 1000
	}
	width := float64(largest) - float64(e.next)
	return e.others && width > 0 && float64(e.next)-float64(e.value) > apart*width
}

// Counting returns the numbers of columns, ascending, whose value grows, or falls, by the
// same from every row to the next, as a row's number does, up to 2²⁴ of them. A set of fewer
// than ten rows has none.
func Counting(set datasets.Set) (columns []int) {
	const fewest = 10
	if set.Len() < fewest {
		return nil
	}
	size := datasets.Size(set.Shape())
	first, before, row := make([]float32, size), make([]float32, size), make([]float32, size)
	set.CopyRow(first, 0)
	set.CopyRow(before, 1)
	for j := range size {
		if before[j] != first[j] {
			columns = append(columns, j)
		}
	}
	for i := 2; i < set.Len() && len(columns) > 0; i++ {
		set.CopyRow(row, i)
		columns = slices.DeleteFunc(columns, func(j int) bool {
			return row[j]-before[j] != before[j]-first[j]
		})
		first, before, row = before, row, first
	}
	return columns
}

// Largest is the magnitude that rows may have before a network: squares of larger values are
// infinite in float32, or next to it.
const Largest = 1e18

// TooLarge returns the first value of a set, which is normalised, that is not finite or beyond
// [Largest], and whether there is one.
func TooLarge(set datasets.Set) (row, column int, value float32, found bool) {
	values := make([]float32, datasets.Size(set.Shape()))
	for i := range set.Len() {
		set.CopyRow(values, i)
		for j, v := range values {
			if !(v >= -Largest && v <= Largest) {
				return i, j, v, true
			}
		}
	}
	return 0, 0, 0, false
}
