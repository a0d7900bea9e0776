// Package learners has what classifiers of tables have in common: the labelled rows that they learn
// from, the folds that these are held out in, the models that they find, and what classifiers that have not
// seen a row say of it.
package learners

import (
	"context"
	"fmt"
	"math/rand/v2"

	"iwda/internal/evenly"
)

// Learner finds a model of the rows. The other rows, m×d, which may be none, teach it nothing: Crossed
// says something of them. The result is the same for the same random numbers and any number of threads.
// An error is that of the context, or of rows that the learner says it does not take.
type Learner func(ctx context.Context, rows Rows, others []float32, threads int, random *rand.PCG) (Fitted, error)

// Fitted is a model, with what models of parts of its rows say of the others.
type Fitted struct {
	Model   Model
	Crossed Crossed
}

// Model is a classifier that a learner has found.
type Model interface {
	// Logits returns those of rows (n×d), n×k. The threads change no result.
	Logits(values []float32, d, threads int) []float64
	// Tensors returns what is kept of the model.
	Tensors() []Tensor
}

// Tensor is a part of what is kept of a model.
type Tensor struct {
	Name   string // in the state of a network
	Values []float32
	Width  int // of a row of the values; 0 if these are one row
}

// MostClasses is the largest number of classes for which trees are grown and small networks trained.
const MostClasses = 2048

// CheckClasses returns an error for k classes if they are more.
func CheckClasses(k int) error {
	if k <= MostClasses {
		return nil
	}
	return fmt.Errorf("%d classes, more than the %d for which trees are grown and small networks trained", k, MostClasses)
}

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

// Check returns an error that names a value which is infinite, or missing if none may be.
func (r Rows) Check(mayMiss bool) error {
	for i, v := range r.Values {
		if v-v != 0 && !(mayMiss && v != v) {
			return fmt.Errorf("row %d, column %d: the value is %v; make it finite%s", i/r.Columns(), i%r.Columns(), v, map[bool]string{true: ", or NaN if it is missing"}[mayMiss])
		}
	}
	return nil
}

// Part returns some of the rows.
func (r Rows) Part(rows []int) Rows {
	d := r.Columns()
	p := Rows{Values: make([]float32, 0, len(rows)*d), Classes: r.Classes, Words: r.Words}
	for _, i := range rows {
		p.Values, p.Labels = append(p.Values, r.Values[i*d:(i+1)*d]...), append(p.Labels, r.Labels[i])
		if r.Groups != nil {
			p.Groups = append(p.Groups, r.Groups[i])
		}
	}
	return p
}

// MostCrossed bounds the labelled rows, drawn evenly, of which Crossed says something.
const MostCrossed = 10_000

// Crossed is what is said of rows by classifiers that each have not learnt from one fold.
type Crossed struct {
	Rows   []int     // numbers of the labelled rows that are judged
	Logits []float64 // len(Rows)×k, each by classifiers that have not learnt from the row
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
