package train

import (
	"iwda/datasets"
	"iwda/nets"
	"iwda/torch"
)

// Evaluation is how a network does on a labelled set.
type Evaluation struct {
	Confusion [][]int // counts, row = true class, column = predicted
}

// Evaluate classifies all rows of a set in evaluation mode, batch rows at a time.
func Evaluate(network nets.Network, set datasets.Set, batch int, device torch.Device) Evaluation {
	k := len(set.ClassNames())
	confusion := make([][]int, k)
	for c := range confusion {
		confusion[c] = make([]int, k)
	}
	rowShape := set.Shape()
	rowSize := 1
	for _, n := range rowShape {
		rowSize *= n
	}
	values := make([]float32, batch*rowSize)
	labels := make([]int64, batch)
	predicted := make([]int64, batch)
	rows := make([]int, batch)
	for first := 0; first < set.Len(); first += batch {
		n := min(batch, set.Len()-first)
		for i := range n {
			rows[i] = first + i
		}
		datasets.CopyRows(values[:n*rowSize], labels[:n], set, rows[:n])
		torch.Tidy(func() {
			torch.NoGrad(func() {
				images := torch.FromSlice(values[:n*rowSize], append([]int{n}, rowShape...)...).To(torch.Float32, device)
				_, logits := network.Forward(images, false)
				torch.CopyToSlice(predicted[:n], logits.ArgMax(1))
			})
		})
		for i := range n {
			confusion[labels[i]][predicted[i]]++
		}
	}
	return Evaluation{confusion}
}

// Accuracy is the share of rows that are classified right.
func (e Evaluation) Accuracy() float64 {
	right, total := 0, 0
	for c, row := range e.Confusion {
		right += row[c]
		for _, n := range row {
			total += n
		}
	}
	return float64(right) / float64(total)
}

// MeanClassAccuracy is the mean over the classes that occur of the share of their
// rows that are classified right.
func (e Evaluation) MeanClassAccuracy() float64 {
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
