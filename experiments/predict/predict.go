// Package predict passes rows through a model: files of any form that package table or
// images reads, as a stream, in their order and in constant memory.
package predict

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/model"
	"iwda/internal/input"
	"iwda/nets"
	"iwda/torch"
)

// Ensemble predicts with several models, or one: the probabilities of a row are the mean of
// its members', each calibrated and corrected for class shares by itself. Several goroutines may
// call Each and Shares at the same time; their batches pass through the networks one by one.
type Ensemble []*Predictor

// Predictor is a member.
type Predictor struct {
	model      model.Model
	options    Options
	normalised []float32   // a batch's values as the network wants them
	computing  *sync.Mutex // the ensemble's, held while a batch passes through
}

// Options say how rows pass through a model. None of them changes a result, but the last
// bits of it.
type Options struct {
	Device  torch.Device
	Threads int // of libtorch; 0 means 1
	Batch   int // rows at a time; 0 means DefaultBatch
}

// orUsual returns the options with what is usual in the place of zeros.
func (o Options) orUsual() Options {
	o.Threads, o.Batch = cmp.Or(o.Threads, 1), cmp.Or(o.Batch, DefaultBatch)
	return o
}

// DefaultBatch is a number of rows that keeps a core busy, and whose values, 0.5 MB of 512
// columns, stay in its cache.
const DefaultBatch = 256

// NewEnsemble returns the ensemble of models as [model.OpenEnsemble] returns them, and
// moves their networks to the device.
func NewEnsemble(models []model.Model, options Options) (e Ensemble) {
	options = options.orUsual()
	var computing sync.Mutex
	for _, m := range models {
		m.Network.State().Move(torch.Float32, options.Device)
		e = append(e, &Predictor{model: m, options: options, computing: &computing})
	}
	return e
}

// Shares returns, for each member, the class shares of a name, as [Predictor.Shares] does.
// An estimate reads the inputs once for each member.
func (e Ensemble) Shares(ctx context.Context, name string, inputs []Input) ([][]float64, error) {
	var all [][]float64 // members × classes
	for _, p := range e {
		shares, err := p.Shares(ctx, name, inputs)
		if err != nil && len(e) > 1 {
			err = fmt.Errorf("%s: %w", p.model.Folder, err)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, shares)
	}
	return all, nil
}

// Each predicts all rows of the inputs, one after the other, and hands the id and the
// probabilities of each to take: calibrated and, where a member has shares, corrected for
// them; see [model.Metadata.Probabilities]. Shares are those of each member (members × classes,
// a nil entry for none), as [Ensemble.Shares] returns them. Each batch passes through every
// member. The slice is valid until take returns.
//
// It ends at the first error: of an input, which names file and row, of take, of the
// context, or a [*torch.Error].
func (e Ensemble) Each(ctx context.Context, inputs []Input, shares [][]float64, take func(id string, probabilities []float32) error) error {
	return EachOf(ctx, inputs, []Ensemble{e}, [][][]float64{shares}, func(_ int, id string, probabilities []float32) error { return take(id, probabilities) })
}

// EachOf is [Ensemble.Each] of several ensembles in one pass over the inputs, with the shares of each.
// They are parts of one that [NewEnsemble] has returned. Take is told which predicts: the first all rows
// of a batch, then the second, and so on.
func EachOf(ctx context.Context, inputs []Input, ensembles []Ensemble, shares [][][]float64, take func(ensemble int, id string, probabilities []float32) error) error {
	k := len(ensembles[0][0].model.Classes)
	narrow := make([]float32, k)
	return eachBatch(ctx, inputs, slices.Concat(ensembles...), func(b batch, logits [][]float32) error {
		for which, e := range ensembles {
			mean, err := e.mean(logits[:len(e)], shares[which])
			if err != nil {
				return err
			}
			logits = logits[len(e):]
			for i := range len(mean) / k {
				for j, v := range mean[i*k : (i+1)*k] {
					narrow[j] = float32(v)
				}
				if err := take(which, b.id(i), narrow); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// mean returns the mean of the members' probabilities, row-major (rows × classes), from
// their logits in the same form.
func (e Ensemble) mean(logits [][]float32, shares [][]float64) ([]float64, error) {
	mean := make([]float64, len(logits[0]))
	for i, p := range e {
		probabilities, err := p.model.Probabilities(logits[i], shares[i])
		if err != nil {
			return nil, err
		}
		floats.Add(mean, probabilities)
	}
	floats.Scale(1/float64(len(e)), mean)
	return mean, nil
}

// eachBatch passes all rows through the networks and hands over the logits of each. The numbers that
// stand for ids go on counting from one input to the next.
func eachBatch(ctx context.Context, inputs []Input, predictors []*Predictor, take func(b batch, logits [][]float32) error) error {
	runtime.LockOSThread() // libtorch's number of threads and its switch for gradients are a thread's
	defer runtime.UnlockOSThread()
	options := predictors[0].options
	size := datasets.BatchRows(options.Batch, -1, predictors[0].model.Input.Shape)
	torch.SetThreads(options.Threads)
	rows := 0 // of all inputs so far
	for _, from := range inputs {
		before := rows
		for b, err := range from.batches(ctx, size) {
			if stopped := ctx.Err(); stopped != nil {
				return stopped
			}
			if err != nil {
				return input.Wrong(err)
			}
			rows += b.rows
			if number := b.number; number != nil && b.rows > 0 {
				b.id = func(i int) string { return strconv.Itoa(before + number(i)) }
				rows = before + number(b.rows-1) + 1
			}
			logits, err := logitsOf(predictors, b)
			if err != nil {
				return fmt.Errorf("%s: %w", from.Name(), err)
			}
			if err := take(b, logits); err != nil {
				return err
			}
		}
	}
	return nil
}

// logitsOf passes a batch through each of the networks. What a frozen backbone makes of the
// rows serves the networks after it that share it.
func logitsOf(predictors []*Predictor, b batch) (logits [][]float32, err error) {
	predictors[0].computing.Lock()
	defer predictors[0].computing.Unlock()
	var pooled torch.Tensor
	var by *Predictor // whose backbone that is of; nil where nothing has been pooled
	through := func(p *Predictor) {
		var outputs torch.Tensor
		if frozen, ok := p.model.Network.(*nets.Frozen); ok {
			if by == nil || !p.pools(b, by) {
				pooled.Release()
				pooled, by = torch.Keep(frozen.Pooled(p.rows(b))), p
			}
			_, outputs = frozen.OnPooled().Forward(pooled, false)
		} else {
			_, outputs = p.model.Network.Forward(p.rows(b), false)
		}
		logits = append(logits, torch.ToSlice[float32](outputs))
	}
	err = torch.Try(func() {
		torch.NoGrad(func() {
			for _, p := range predictors {
				torch.Tidy(func() { through(p) })
			}
		})
	})
	pooled.Release()
	return logits, err
}

// pools reports whether the frozen backbones of both predictors make the same of a batch.
func (p *Predictor) pools(b batch, other *Predictor) bool {
	mine, its := p.model, other.model
	return mine.Network.(*nets.Frozen).SharesBackbone(its.Network.(*nets.Frozen)) &&
		(b.normalised || mine.Normalisation.SameOnTarget(its.Normalisation))
}

// rows are a batch's rows as the network wants them, on its device.
func (p *Predictor) rows(b batch) torch.Tensor {
	values := b.values
	if !b.normalised && p.model.Normalisation.Kind != normalise.None {
		p.normalised = append(p.normalised[:0], values...)
		values = p.normalised
		p.model.Normalise(values)
	}
	shape := append([]int{b.rows}, p.model.Input.Shape...)
	return torch.FromSlice(values, shape...).To(torch.Float32, p.options.Device)
}
