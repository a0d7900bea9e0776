// Package labels has rows of a target drawn for somebody to label, and finds what was predicted of
// those that have labels: the file to_label.csv between iwrun adapt, its user and iwrun evaluate.
package labels

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"iwda/datasets"
	"iwda/internal/convert"
)

// Row is one of the drawn rows.
type Row struct {
	ID         string
	Class      string // predicted
	Confidence float64
}

// Draw draws rows from all that it is told of, without replacement and in one pass. Memory is for
// twice the drawn ones at most.
type Draw struct {
	rows   int
	random *rand.Rand
	least  []keyedRow // with those of the least keys
}

type keyedRow struct {
	key uint64
	Row
}

// NewDraw returns what draws so many rows by a seed, all with the same probability. A larger number with
// the same seed draws the same rows, and more after them.
func NewDraw(rows int, seed int64) *Draw {
	return &Draw{rows: rows, random: rand.New(datasets.Stream(seed, "rows to label"))}
}

// Add tells of a row. Each has a random key, whatever is predicted, and those of the least keys are
// drawn.
func (d *Draw) Add(id, class string, confidence float64) {
	d.least = append(d.least, keyedRow{d.random.Uint64(), Row{id, class, confidence}})
	if len(d.least) > 2*d.rows {
		d.keep()
	}
}

// keep forgets all rows but those that would be drawn.
func (d *Draw) keep() {
	slices.SortFunc(d.least, func(a, b keyedRow) int { return cmp.Compare(a.key, b.key) })
	d.least = d.least[:min(len(d.least), d.rows)]
}

// Rows returns the drawn rows in the order in which they are to be labelled: the first of them are
// drawn at random too.
func (d *Draw) Rows() []Row {
	d.keep()
	return convert.Each(d.least, func(k keyedRow) Row { return k.Row })
}
