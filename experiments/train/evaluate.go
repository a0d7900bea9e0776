package train

import (
	"context"

	"iwda/datasets"
	"iwda/experiments/store"
	"iwda/nets"
	"iwda/torch"
)

// evaluator passes sets of rows through a network in evaluation mode.
type evaluator struct {
	network   nets.Network
	batchSize int
	device    torch.Device
}

// taker takes what the network says of the rows of a set, batch by batch in the set's
// order. The tensors and labels of a batch are valid until take returns.
type taker interface {
	take(rowOutputs) error
}

// rowOutputs are what a network in evaluation mode says of a batch of n rows.
type rowOutputs struct {
	logits torch.Tensor    // (n × k)
	labels datasets.Labels // of the rows
}

// evaluate passes all rows of a set through the network once and hands what it says of
// them to every taker in turn. It ends at the first error.
func (e evaluator) evaluate(ctx context.Context, set rowReader, takers ...taker) error {
	for b, err := range set.batches(ctx, e.batchSize) {
		if err != nil {
			return err
		}
		torch.Tidy(func() {
			torch.NoGrad(func() {
				o := rowOutputs{labels: b.labels}
				_, o.logits = e.network.Forward(b.tensor(e.device), false)
				for _, t := range takers {
					if err = t.take(o); err != nil {
						return
					}
				}
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// confusion counts the labelled rows by class (row) and prediction (column).
type confusion [][]int

func newConfusion(classes int) confusion {
	counts := make(confusion, classes)
	for c := range counts {
		counts[c] = make([]int, classes)
	}
	return counts
}

func (c confusion) take(o rowOutputs) error {
	for i, predicted := range torch.ToSlice[int64](o.logits.ArgMax(1)) {
		if class, known := o.labels.At(i); known {
			c[class][predicted]++
		}
	}
	return nil
}

// measured is the counts, nil where no row has a label.
func (c confusion) measured() confusion {
	if !c.accuracy().Measured {
		return nil
	}
	return c
}

// accuracy is the share of the labelled rows that are classified right, if there are any.
func (c confusion) accuracy() store.Optional[float64] {
	right, total := 0, 0
	for class, row := range c {
		right += row[class]
		total += sum(row)
	}
	if total == 0 {
		return store.Optional[float64]{}
	}
	return store.Measured(float64(right) / float64(total))
}

// meanClassAccuracy is the mean over the classes that occur of the share of their rows
// that are classified right, if any row has a label.
func (c confusion) meanClassAccuracy() store.Optional[float64] {
	shares, classes := 0.0, 0
	for class, row := range c {
		if total := sum(row); total > 0 {
			shares += float64(row[class]) / float64(total)
			classes++
		}
	}
	if classes == 0 {
		return store.Optional[float64]{}
	}
	return store.Measured(shares / float64(classes))
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}
