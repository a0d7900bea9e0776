package train

import (
	"iwda/classshares"
	"iwda/experiments/store"
	"iwda/torch"
)

// judgedRows bounds the rows of the target by which runs are judged: with more,
// the choice would hardly be better.
const judgedRows = 10_000

// outputs keeps what the network says of rows of a set.
type outputs struct {
	every int // keeps every nth row
	seen  int // rows

	classes int
	logits  []float32
	labels  []int // -1 where one is not known
}

// newOutputs keeps at most the given number of a set's rows, evenly spaced.
func newOutputs(rows, most int) *outputs { return &outputs{every: max(1, (rows+most-1)/most)} }

func (u *outputs) take(o rowOutputs) error {
	logits := torch.ToSlice[float32](o.logits)
	n := o.logits.Shape()[0]
	u.classes = len(logits) / n
	for i := range n {
		if u.seen++; (u.seen-1)%u.every != 0 {
			continue
		}
		u.logits = append(u.logits, logits[i*u.classes:(i+1)*u.classes]...)
		class, known := o.labels.At(i)
		if !known {
			class = -1
		}
		u.labels = append(u.labels, class)
	}
	return nil
}

// rows are the logits as package classshares reads them.
func (u *outputs) rows() classshares.Rows { return classshares.Rows{Values: u.logits} }

// stored are the outputs on held-out rows and the target's as a run's folder has them.
func stored(heldOut, target *outputs) store.Outputs {
	return store.Outputs{
		Classes: heldOut.classes, HeldOut: heldOut.logits, HeldOutLabels: heldOut.labels,
		Target: target.logits, TargetLabels: target.labels,
	}
}
