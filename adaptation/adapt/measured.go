package adapt

import (
	"fmt"

	"iwda/adaptation/labels"
	"iwda/datasets"
)

// Measured is how many predictions are right by the labels that rows of the target had from the start.
type Measured struct {
	Rows   int `json:"rows"`   // of the target
	Labels int `json:"labels"` // rows that have one
	// Accuracy is that of all rows. If some have no label, it holds if those with one are a random
	// draw, which nobody said.
	labels.Accuracy
}

// all tells that nothing is estimated.
func (m *Measured) all() bool { return m != nil && m.Labels == m.Rows }

// String says how much is right, and by what.
func (m *Measured) String() string {
	if m.all() {
		return fmt.Sprintf("%.1f%% by the labels of all %d rows", 100*m.Value, m.Rows)
	}
	return fmt.Sprintf("%.1f%% (%.1f to %.1f%%) by the labels of %d of %d rows, if these are a random sample", 100*m.Value, 100*m.Low, 100*m.High, m.Labels, m.Rows)
}

// measure returns what takes the predictions of all the target's rows in their order, and what they are
// worth by the labels then; nil without any.
func measure(target datasets.Labels, classes []string) (take func(id, class string, probability float64), measured func() *Measured) {
	var tally labels.Tally
	row := 0
	take = func(_, class string, probability float64) {
		label, known := target.At(row)
		tally.Add(probability, known, known && classes[label] == class)
		row++
	}
	return take, func() *Measured {
		n, accuracy := tally.Accuracy()
		if n == 0 {
			return nil
		}
		return &Measured{row, n, accuracy}
	}
}
