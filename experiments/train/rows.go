package train

import (
	"context"
	"iter"

	"iwda/datasets"
	"iwda/torch"
)

// rowReader reads the rows of a set in order, batch by batch. The values and labels of a
// batch are valid until the next one.
type rowReader interface {
	batches(ctx context.Context, size int) iter.Seq2[rowBatch, error]
}

// rowBatch is a number of rows with their labels, as far as those are known.
type rowBatch struct {
	values []float32
	shape  []int // of one row
	labels datasets.Labels
}

// len is the number of rows.
func (b rowBatch) len() int { return len(b.values) / datasets.Size(b.shape) }

// tensor returns the rows on the device (n × shape).
func (b rowBatch) tensor(device torch.Device) torch.Tensor {
	return torch.FromSlice(b.values, append([]int{b.len()}, b.shape...)...).To(torch.Float32, device)
}

// inMemory reads a set in order.
type inMemory struct{ set datasets.Set }

func (m inMemory) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	return func(yield func(rowBatch, error) bool) {
		shape := m.set.Shape()
		rowSize := datasets.Size(shape)
		values, indices := make([]float32, size*rowSize), make([]int, size)
		for first := 0; first < m.set.Len(); first += size {
			if err := ctx.Err(); err != nil {
				yield(rowBatch{}, err)
				return
			}
			n := min(size, m.set.Len()-first)
			for i := range n {
				indices[i] = first + i
			}
			datasets.CopyRows(values[:n*rowSize], m.set, indices[:n])
			if !yield(rowBatch{values[:n*rowSize], shape, datasets.LabelsOf(datasets.Subset(m.set, indices[:n]))}, nil) {
				return
			}
		}
	}
}

// lively calls alive when a batch has been dealt with.
type lively struct {
	rowReader
	alive func()
}

func (l lively) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	return func(yield func(rowBatch, error) bool) {
		for b, err := range l.rowReader.batches(ctx, size) {
			if !yield(b, err) {
				return
			}
			l.alive()
		}
	}
}
