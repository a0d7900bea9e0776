// Package predict passes rows through a model: files of any form that package table or
// images reads, as a stream, in their order and in constant memory.
package predict

import (
	"context"
	"fmt"
	"runtime"

	"iwda/experiments/model"
	"iwda/torch"
)

// Predictor makes probabilities of rows.
type Predictor struct {
	model   model.Model
	options Options
}

// Options say how rows pass through a model. None of them changes a result, but the last
// bits of it.
type Options struct {
	Device  torch.Device
	Threads int // of libtorch, at least 1
	Batch   int // rows at a time, at least 1
}

// DefaultBatch is a number of rows that keeps a core busy and takes little memory.
const DefaultBatch = 512

// New returns a predictor, and moves the model's network to the device.
func New(m model.Model, options Options) *Predictor {
	m.Network.State().Move(torch.Float32, options.Device)
	return &Predictor{m, options}
}

// Each predicts all rows of the inputs, one after the other, and hands the id and the
// probabilities of each to take: calibrated and, where shares are given, corrected for
// them; see [model.Metadata.Probabilities]. The slice is valid until take returns.
//
// It ends at the first error: of an input, which names file and row, of take, of the
// context, or a [*torch.Error].
func (p *Predictor) Each(ctx context.Context, inputs []Input, shares []float64, take func(id string, probabilities []float32) error) error {
	k := len(p.model.Classes)
	narrow := make([]float32, k)
	return p.eachBatch(ctx, inputs, func(b batch, logits []float32) error {
		probabilities, err := p.model.Probabilities(logits, shares)
		if err != nil {
			return err
		}
		for i := range len(probabilities) / k {
			for j, v := range probabilities[i*k : (i+1)*k] {
				narrow[j] = float32(v)
			}
			if err := take(b.id(i), narrow); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachBatch passes all rows through the network and hands over the logits.
func (p *Predictor) eachBatch(ctx context.Context, inputs []Input, take func(b batch, logits []float32) error) error {
	runtime.LockOSThread() // libtorch's number of threads and its switch for gradients are a thread's
	defer runtime.UnlockOSThread()
	torch.SetThreads(p.options.Threads)
	for _, input := range inputs {
		for b, err := range input.batches(ctx, p.options.Batch) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			logits, err := p.logits(b)
			if err != nil {
				return fmt.Errorf("%s: %w", input.Name(), err)
			}
			if err := take(b, logits); err != nil {
				return err
			}
		}
	}
	return nil
}

// logits passes a batch through the network. It changes the batch's values.
func (p *Predictor) logits(b batch) (logits []float32, err error) {
	if !b.normalised {
		p.model.Normalise(b.values)
	}
	shape := append([]int{b.rows}, p.model.Input.Shape...)
	refused := torch.Try(func() {
		torch.Tidy(func() {
			torch.NoGrad(func() {
				_, outputs := p.model.Network.Forward(torch.FromSlice(b.values, shape...).To(torch.Float32, p.options.Device), false)
				logits = torch.ToSlice[float32](outputs)
			})
		})
	})
	if refused != nil {
		return nil, refused
	}
	return logits, nil
}
