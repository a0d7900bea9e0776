package train

import (
	"context"
	"iter"

	"iwda/datasets"
	"iwda/datasets/images"
	"iwda/torch"
)

// rowReader reads the rows of a set in order, batch by batch. The values and labels of a
// batch are valid until the next one.
type rowReader interface {
	batches(ctx context.Context, size int) iter.Seq2[rowBatch, error]
}

// rowValues are rows of numbers one after another: as networks take them, or bytes of
// images, which their device normalises.
type rowValues struct {
	floats []float32
	bytes  []uint8 // in the place of floats
}

// len is the number of values.
func (v rowValues) len() int { return len(v.floats) + len(v.bytes) }

// tensor returns the values as a network takes them, on the device.
func (v rowValues) tensor(device torch.Device, shape ...int) torch.Tensor {
	if v.bytes == nil {
		return torch.Upload(v.floats, device, shape...)
	}
	channels := func(values [3]float32) torch.Tensor { return torch.Upload(values[:], device, 3, 1, 1) }
	mean, deviation := images.Normalisation()
	const brightest = 255
	pixels := torch.Upload(v.bytes, device, shape...).To(torch.Float32, device).Div(torch.Full(brightest, torch.Float32, device))
	return pixels.Sub(channels(mean)).Div(channels(deviation))
}

// rowBatch is a number of rows with their labels, as far as those are known.
type rowBatch struct {
	values rowValues
	shape  []int // of one row
	labels datasets.Labels
}

// len is the number of rows.
func (b rowBatch) len() int { return b.values.len() / datasets.Size(b.shape) }

// tensor returns the rows on the device (n × shape).
func (b rowBatch) tensor(device torch.Device) torch.Tensor {
	return b.values.tensor(device, append([]int{b.len()}, b.shape...)...)
}

// inMemory reads a set in order.
type inMemory struct{ set datasets.Set }

func (m inMemory) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	return func(yield func(rowBatch, error) bool) {
		shape := m.set.Shape()
		rowSize := datasets.Size(shape)
		size = datasets.BatchRows(size, m.set.Len(), shape)
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
			if !yield(rowBatch{rowValues{floats: values[:n*rowSize]}, shape, datasets.LabelsOf(datasets.Subset(m.set, indices[:n]))}, nil) {
				return
			}
		}
	}
}
