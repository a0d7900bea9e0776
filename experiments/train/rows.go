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
	labels labels
}

// len is the number of rows.
func (b rowBatch) len() int { return len(b.values) / sizeOf(b.shape) }

// tensor returns the rows on the device (n × shape).
func (b rowBatch) tensor(device torch.Device) torch.Tensor {
	return torch.FromSlice(b.values, append([]int{b.len()}, b.shape...)...).To(torch.Float32, device)
}

// labels are the classes of a batch's rows, each of which may be unknown.
type labels struct {
	classes []int64
	unknown []bool // nil where none is
}

// knownLabels are those of rows whose classes are all known.
func knownLabels(classes []int64) labels { return labels{classes: classes} }

// of returns the class of a row, if it is known.
func (l labels) of(row int) (class int, known bool) {
	if row >= len(l.classes) || l.unknown != nil && l.unknown[row] {
		return 0, false
	}
	return int(l.classes[row]), true
}

// inMemory reads a set in order.
type inMemory struct{ set datasets.Set }

func (m inMemory) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	return func(yield func(rowBatch, error) bool) {
		shape := m.set.Shape()
		rowSize := sizeOf(shape)
		values, classes, indices := make([]float32, size*rowSize), make([]int64, size), make([]int, size)
		for first := 0; first < m.set.Len(); first += size {
			if err := ctx.Err(); err != nil {
				yield(rowBatch{}, err)
				return
			}
			n := min(size, m.set.Len()-first)
			for i := range n {
				indices[i] = first + i
			}
			datasets.CopyRows(values[:n*rowSize], classes[:n], m.set, indices[:n])
			if !yield(rowBatch{values[:n*rowSize], shape, knownLabels(classes[:n])}, nil) {
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

func sizeOf(shape []int) int {
	size := 1
	for _, n := range shape {
		size *= n
	}
	return size
}
