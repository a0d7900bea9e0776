package train

import (
	"context"
	"errors"
	"io"
	"iter"

	"iwda/datasets"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/torch"
)

// data is what a run is trained and measured on.
type data struct {
	domains.About
	feed      feed
	onSource  rowReader // the source's training rows, as in evaluation
	onTest    rowReader // the target's test rows
	onHeldOut rowReader // the source's rows that training does not see; nil for none
	files     io.Closer // what the rows are read from; nil for nothing
}

// openData opens data that are held in memory.
func openData(run config.Resolved) (*data, error) {
	rows, err := domains.Open(run, true)
	if err != nil {
		return nil, err
	}
	const replaced = true
	if err := rows.CheckBatch(run, replaced); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	sources := []datasets.Set{rows.Source}
	for i, part := range rows.Parts {
		sources = append(sources[:i], datasets.Subset(rows.Source, part.Rows))
	}
	d := &data{
		About: rows.About, onSource: inMemory{rows.Source}, onTest: inMemory{rows.Test}, files: rows,
		feed: newResampled(sources, rows.Target, run.Train.Batch, run.Seed),
	}
	if rows.HeldOut != nil {
		d.onHeldOut = inMemory{rows.HeldOut}
	}
	return d, nil
}

func (d *data) close() error {
	err := d.feed.close()
	if d.files != nil {
		err = errors.Join(err, d.files.Close())
	}
	return err
}

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
