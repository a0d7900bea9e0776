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
type Accumulator struct {
	classes int
	// joint is transposed, row = true class, so that a source row is added to
	// adjacent entries.
	joint      []float64
	target     []float64
	sourceRows int
	targetRows int
}

// NewAccumulator returns an empty accumulator. It panics unless classes ≥ 1.
func NewAccumulator(classes int) *Accumulator {
	if classes < 1 {
		panic(fmt.Sprintf("weightest: an accumulator of %d classes", classes))
	}
	return &Accumulator{
		classes: classes,
		joint:   make([]float64, classes*classes),
		target:  make([]float64, classes),
	}
}

// Classes returns k.
func (a *Accumulator) Classes() int { return a.classes }

// Add adds the probabilities of a source batch, row-major n_S×k, with its n_S labels,
// and those of a target batch, row-major n_T×k. Either may be empty, and the two need
// not have the same size. A label outside 0..k-1 is an error, and nothing is added.
// Add panics where the lengths do not fit.
func (a *Accumulator) Add(source []float32, labels []int, target []float32) error {
	k := a.classes
	if len(source) != len(labels)*k {
		panic(fmt.Sprintf("weightest: %d source probabilities for %d labels of %d classes", len(source), len(labels), k))
	}
	if len(target)%k != 0 {
		panic(fmt.Sprintf("weightest: %d target probabilities are no rows of %d classes", len(target), k))
	}
	for row, label := range labels {
		if label < 0 || label >= k {
			return fmt.Errorf("weightest: source row %d has label %d; there are %d classes", row, label, k)
		}
	}
	for row, label := range labels {
		addRow(a.joint[label*k:(label+1)*k], source[row*k:])
	}
	for row := 0; row < len(target); row += k {
		addRow(a.target, target[row:])
	}
	a.sourceRows += len(labels)
	a.targetRows += len(target) / k
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
	c := mat.NewDense(a.classes, a.classes, nil)
	if a.sourceRows > 0 {
		joint := mat.NewDense(a.classes, a.classes, a.joint)
		c.Scale(1/float64(a.sourceRows), joint.T())
	}
	return c
}

// TargetPredictions returns a new mu of length k, the sum of the target rows divided
// by their number. It is zero before the first target row.
func (a *Accumulator) TargetPredictions() []float64 {
	mu := make([]float64, a.classes)
	if a.targetRows > 0 {
		for i, sum := range a.target {
			mu[i] = sum / float64(a.targetRows)
		}
	}
	return mu
}

// SourceRows returns the number of source rows added since the last Reset.
func (a *Accumulator) SourceRows() int { return a.sourceRows }

// TargetRows returns the number of target rows added since the last Reset.
func (a *Accumulator) TargetRows() int { return a.targetRows }

// Reset forgets every row.
func (a *Accumulator) Reset() {
	clear(a.joint)
	clear(a.target)
	a.sourceRows, a.targetRows = 0, 0
}

// AccumulatorState is all that an Accumulator remembers, for checkpoints.
type AccumulatorState struct {
	Classes int
	// Joint are the sums of source probabilities, row-major k×k, row = true class: the
	// transposed C before its division.
	Joint []float64
	// Target are the sums of target probabilities, length k.
	Target     []float64
	SourceRows int
	TargetRows int
}

// State returns a copy of the accumulator's state.
func (a *Accumulator) State() AccumulatorState {
	return AccumulatorState{
		Classes:    a.classes,
		Joint:      slices.Clone(a.joint),
		Target:     slices.Clone(a.target),
		SourceRows: a.sourceRows,
		TargetRows: a.targetRows,
	}
}

// Restore sets the state to a copy of s, bit by bit. A state of another number of
// classes, or one whose parts do not fit each other, is an error and changes nothing.
func (a *Accumulator) Restore(s AccumulatorState) error {
	k := a.classes
	if s.Classes != k {
		return fmt.Errorf("weightest: the saved accumulator has %d classes; this one has %d", s.Classes, k)
	}
	if len(s.Joint) != k*k || len(s.Target) != k || s.SourceRows < 0 || s.TargetRows < 0 {
		return fmt.Errorf("weightest: the saved accumulator of %d classes holds %d and %d sums of %d and %d rows",
			k, len(s.Joint), len(s.Target), s.SourceRows, s.TargetRows)
	}
	copy(a.joint, s.Joint)
	copy(a.target, s.Target)
	a.sourceRows, a.targetRows = s.SourceRows, s.TargetRows
	return nil
}
