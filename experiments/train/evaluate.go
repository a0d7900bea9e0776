package train

import (
	"context"

	"iwda/nets"
	"iwda/torch"
)

// evaluation is how a network does on labelled rows.
type evaluation struct {
	Confusion [][]int // counts, row = true class, column = predicted
}

// evaluate classifies all rows in evaluation mode, batch rows at a time.
func evaluate(ctx context.Context, network nets.Network, r rows, classes, batch int, device torch.Device) (evaluation, error) {
	confusion := make([][]int, classes)
	for c := range confusion {
		confusion[c] = make([]int, classes)
	}
	predicted := make([]int64, batch)
	for b, err := range r.batches(ctx, batch) {
		if err != nil {
			return evaluation{}, err
		}
		n := len(b.labels)
		torch.Tidy(func() {
			torch.NoGrad(func() {
				x := torch.FromSlice(b.values, append([]int{n}, b.shape...)...).To(torch.Float32, device)
				_, logits := network.Forward(x, false)
				torch.CopyToSlice(predicted[:n], logits.ArgMax(1))
			})
		})
		for i, label := range b.labels {
			confusion[label][predicted[i]]++
		}
	}
	return evaluation{confusion}, nil
}

// accuracy is the share of rows that are classified right.
func (e evaluation) accuracy() float64 {
	right, total := 0, 0
	for c, row := range e.Confusion {
		right += row[c]
		for _, n := range row {
			total += n
		}
	}
	return float64(right) / float64(total)
}

// meanClassAccuracy is the mean over the classes that occur of the share of their
// rows that are classified right.
func (e evaluation) meanClassAccuracy() float64 {
	sum, classes := 0.0, 0
	for c, row := range e.Confusion {
		total := 0
		for _, n := range row {
			total += n
		}
		if total > 0 {
			sum += float64(row[c]) / float64(total)
			classes++
		}
	}
	return sum / float64(classes)
}
