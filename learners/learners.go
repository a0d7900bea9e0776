// Package learners has what classifiers of tables have in common: the labelled rows that they learn
// from, the folds that these are held out in, and what classifiers that have not seen a row say of it.
package learners

import "iwda/internal/evenly"

// Rows are n labelled rows of d values.
type Rows struct {
	Values  []float32 // n×d, row after row, finite; or NaN where a learner says what it does with missing values
	Labels  []int     // n classes, from 0
	Classes int       // k
	// Groups are n numbers: rows of the same group, such as those of one patient, are never on both
	// sides of a fold. Nil puts each row into a group of its own.
	Groups []int
	// Words lists columns that are the levels of one word: at most one of them is above its lowest
	// value in a row. Learners that know no words take them as other columns.
	Words [][]int
}

// Columns returns d.
func (r Rows) Columns() int { return len(r.Values) / len(r.Labels) }

// Part returns some of the rows.
func (r Rows) Part(rows []int) Rows {
	d, p := r.Columns(), Rows{Classes: r.Classes, Words: r.Words}
	for _, i := range rows {
		p.Values, p.Labels = append(p.Values, r.Values[i*d:(i+1)*d]...), append(p.Labels, r.Labels[i])
		if r.Groups != nil {
			p.Groups = append(p.Groups, r.Groups[i])
		}
	}
	return p
}

// Crossed is what is said of rows by classifiers that each have not learnt from one fold.
type Crossed struct {
	Logits []float64 // n×k of the labelled rows, each by the classifier of the other folds
	// Others are the logits (m×k) of m rows without labels by the classifier of each fold.
	Others [][]float64
}

// InTurn returns the logits of the other rows (m×k), row i by the classifier of fold i mod the number
// of folds. They compare with Logits, which are those of one classifier each, too.
func (c Crossed) InTurn(k int) []float64 {
	turns := make([]float64, 0, len(c.Others[0]))
	for i := range len(c.Others[0]) / k {
		turns = append(turns, c.Others[i%len(c.Others)][i*k:(i+1)*k]...)
	}
	return turns
}

// Folds returns the fold of each row, from 0 to at most folds-1, the same at each call; see
// evenly.Folds. A group is in one fold.
func Folds(rows Rows, folds int) []int {
	groups := rows.Groups
	if groups == nil {
		groups = evenly.All(len(rows.Labels))
	}
	return evenly.Folds(rows.Labels, groups, folds)
}
