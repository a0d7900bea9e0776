package weightest

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Accumulator collects C and mu from predicted probabilities, batch by batch, in
// float64:
//
//	C[i][j] = (1/n_S) Σ_{source rows with label j} p_i,   mu[i] = (1/n_T) Σ_{target rows} p_i.
//
// The probabilities are soft, as in the paper's experiments; one-hot rows give the
// hard counts of its equations.
type Accumulator struct{ sums AccumulatorState }

// AccumulatorState is all that an Accumulator remembers, for checkpoints.
type AccumulatorState struct {
	Classes int
	// Joint are the sums of source probabilities, row-major k×k, row = true class, so that a
	// source row is added to adjacent entries: the transposed C before its division.
	Joint []float64
	// Target are the sums of target probabilities, length k.
	Target     []float64
	SourceRows int
	TargetRows int
}

// NewAccumulator returns an empty accumulator. It panics unless classes ≥ 1.
func NewAccumulator(classes int) *Accumulator {
	if classes < 1 {
		panic(fmt.Sprintf("weightest: an accumulator of %d classes", classes))
	}
	return &Accumulator{AccumulatorState{Classes: classes, Joint: make([]float64, classes*classes), Target: make([]float64, classes)}}
}

// Classes returns k.
func (a *Accumulator) Classes() int { return a.sums.Classes }

// Add adds the probabilities of a source batch, row-major n_S×k, with its n_S labels,
// and those of a target batch, row-major n_T×k. Either may be empty, and the two need
// not have the same size. The error is that of CheckLabels, and nothing is added then.
// Add panics where the lengths do not fit.
func (a *Accumulator) Add(source []float32, labels []int, target []float32) error {
	k := a.sums.Classes
	if len(source) != len(labels)*k {
		panic(fmt.Sprintf("weightest: %d source probabilities for %d labels of %d classes", len(source), len(labels), k))
	}
	if len(target)%k != 0 {
		panic(fmt.Sprintf("weightest: %d target probabilities are no rows of %d classes", len(target), k))
	}
	if err := CheckLabels(labels, k); err != nil {
		return err
	}
	for row, label := range labels {
		addRow(a.sums.Joint[label*k:(label+1)*k], source[row*k:])
	}
	for row := 0; row < len(target); row += k {
		addRow(a.sums.Target, target[row:])
	}
	a.sums.SourceRows += len(labels)
	a.sums.TargetRows += len(target) / k
	return nil
}

func addRow(sum []float64, row []float32) {
	row = row[:len(sum)]
	for i, p := range row {
		sum[i] += float64(p)
	}
}

// Confusion returns a new k×k matrix C: row = predicted class, column = true class,
// divided by the number of source rows. It is zero before the first source row.
func (a *Accumulator) Confusion() *mat.Dense {
	k := a.sums.Classes
	c := mat.NewDense(k, k, nil)
	if a.sums.SourceRows > 0 {
		c.Scale(1/float64(a.sums.SourceRows), mat.NewDense(k, k, a.sums.Joint).T())
	}
	return c
}

// TargetPredictions returns a new mu of length k, the sum of the target rows divided
// by their number. It is zero before the first target row.
func (a *Accumulator) TargetPredictions() []float64 {
	mu := make([]float64, a.sums.Classes)
	if a.sums.TargetRows > 0 {
		for i, sum := range a.sums.Target {
			mu[i] = sum / float64(a.sums.TargetRows)
		}
	}
	return mu
}

// Reset forgets every row.
func (a *Accumulator) Reset() {
	clear(a.sums.Joint)
	clear(a.sums.Target)
	a.sums.SourceRows, a.sums.TargetRows = 0, 0
}

// State returns a copy of the accumulator's state.
func (a *Accumulator) State() AccumulatorState {
	s := a.sums
	s.Joint, s.Target = slices.Clone(s.Joint), slices.Clone(s.Target)
	return s
}

// Restore sets the state to a copy of s, bit by bit. A state of another number of
// classes, or one whose parts do not fit each other, is an error and changes nothing.
func (a *Accumulator) Restore(s AccumulatorState) error {
	k := a.sums.Classes
	if s.Classes != k {
		return fmt.Errorf("weightest: the saved accumulator has %d classes; this one has %d", s.Classes, k)
	}
	if len(s.Joint) != k*k || len(s.Target) != k || s.SourceRows < 0 || s.TargetRows < 0 {
		return fmt.Errorf("weightest: the saved accumulator of %d classes holds %d and %d sums of %d and %d rows",
			k, len(s.Joint), len(s.Target), s.SourceRows, s.TargetRows)
	}
	a.sums = s
	a.sums = a.State()
	return nil
}
