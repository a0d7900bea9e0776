// Package predict passes rows through a model: files of any form that package table or
// images reads, as a stream, in their order and in constant memory.
package predict

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/engine"
	"iwda/experiments/model"
	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/nets/architecture"
)

// Ensemble predicts with several models, or one: the probabilities of a row are the mean of
// its members', by their votes, each calibrated and corrected for class shares by itself. One goroutine may use it
// at a time.
type Ensemble []*Predictor

// Predictor is a member.
type Predictor struct {
	model  model.Model
	of     *networks
	number int                              // in these
	logits func(values []float32) []float32 // computed here; nil where iwrun-torch does it
}

// networks are those of the models of an ensemble that take libtorch.
type networks struct {
	options Options
	models  []model.Model
	opened  *int // the number by which iwrun-torch knows them; nil until it is asked
}

// Options say how rows pass through a model. None of them changes a result, but the last
// bits of it.
type Options struct {
	// Torch computes what takes libtorch; it may be nil where nothing does.
	Torch   *engine.Process
	Device  string // as --device names one; "" is the CPU
	Threads int    // of libtorch; 0 means 1
	Batch   int    // rows at a time; 0 means DefaultBatch
}

// open has iwrun-torch make the networks of models, and returns their number.
func (o Options) open(ctx context.Context, models []model.Model) (number int, err error) {
	with := engine.Models{Device: o.Device, Threads: o.Threads}
	for _, m := range models {
		module := ""
		if m.Architecture.Name == architecture.TorchScript { // which whoever opened the model has allowed
			module = m.Architecture.Backbone.SHA256
		}
		with.Folders, with.Modules = append(with.Folders, m.Folder), append(with.Modules, module)
	}
	err = o.Torch.Ask(ctx, engine.Open, with, &number)
	return number, err
}

// DefaultBatch is a number of rows that keeps a core busy, and whose values, 0.5 MB of 512
// columns, stay in its cache.
const DefaultBatch = 256

// NewEnsemble returns the ensemble of models as [model.Trust.OpenEnsemble] returns them.
func NewEnsemble(models []model.Model, options Options) (e Ensemble) {
	options.Device, options.Threads, options.Batch = cmp.Or(options.Device, "cpu"), cmp.Or(options.Threads, 1), cmp.Or(options.Batch, DefaultBatch)
	of := &networks{options: options}
	for _, m := range models {
		p := &Predictor{m, of, len(of.models), m.Logits(options.Torch.There())}
		if p.logits == nil {
			of.models = append(of.models, m)
		}
		e = append(e, p)
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
// context, or of iwrun-torch.
func (e Ensemble) Each(ctx context.Context, inputs []Input, shares [][]float64, take func(id string, probabilities []float32) error) error {
	return EachOf(ctx, inputs, []Ensemble{e}, [][][]float64{shares}, func(_ int, id string, probabilities []float32) error { return take(id, probabilities) })
}

// EachOf is [Ensemble.Each] of several ensembles in one pass over the inputs, with the shares of each.
// They are parts of one that [NewEnsemble] has returned. Take is told which predicts: the first all rows
// of a batch, then the second, and so on.
func EachOf(ctx context.Context, inputs []Input, ensembles []Ensemble, shares [][][]float64, take func(ensemble int, id string, probabilities []float32) error) error {
	k := len(ensembles[0][0].model.Classes)
	return eachBatch(ctx, inputs, slices.Concat(ensembles...), func(b batch, logits [][]float32) error {
		for which, e := range ensembles {
			mean, err := e.mean(logits[:len(e)], shares[which])
			if err != nil {
				return err
			}
			logits = logits[len(e):]
			narrow := convert.Slice[float32](mean)
			for i := range len(mean) / k {
				if err := take(which, b.id(i), narrow[i*k:(i+1)*k]); err != nil {
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
	mean, votes := make([]float64, len(logits[0])), 0.0
	for i, p := range e {
		probabilities, err := p.model.Probabilities(logits[i], shares[i])
		if err != nil {
			return nil, err
		}
		vote := cmp.Or(e[i].model.Vote, 1)
		floats.AddScaled(mean, vote, probabilities)
		votes += vote
	}
	floats.Scale(1/votes, mean)
	return mean, nil
}

// eachBatch passes all rows through the networks and hands over the logits of each. The numbers that
// stand for ids go on counting from one input to the next.
func eachBatch(ctx context.Context, inputs []Input, predictors []*Predictor, take func(b batch, logits [][]float32) error) error {
	size := datasets.BatchRows(predictors[0].of.options.Batch, -1, predictors[0].model.Input.Shape)
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
			logits, err := logitsOf(ctx, predictors, b)
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

// logitsOf passes a batch through each of the networks, those that take libtorch all at once.
func logitsOf(ctx context.Context, predictors []*Predictor, b batch) (logits [][]float32, err error) {
	var elsewhere []int // the numbers of these
	for _, p := range predictors {
		if p.logits == nil {
			elsewhere = append(elsewhere, p.number)
		}
	}
	var answered [][]float32
	if len(elsewhere) > 0 {
		if answered, err = predictors[0].of.ask(ctx, elsewhere, b); err != nil {
			return nil, err
		}
	}
	for _, p := range predictors {
		if p.logits == nil {
			logits, answered = append(logits, answered[0]), answered[1:]
			continue
		}
		logits = append(logits, p.logits(p.rows(b)))
	}
	return logits, nil
}

// ask passes a batch through the networks of these numbers in iwrun-torch.
func (n *networks) ask(ctx context.Context, numbers []int, b batch) ([][]float32, error) {
	if n.opened == nil {
		opened, err := n.options.open(ctx, n.models)
		if err != nil {
			return nil, err
		}
		n.opened = &opened
	}
	rows := &engine.Rows{Of: *n.opened, Members: numbers, Shape: n.models[0].Input.Shape, Normalised: b.normalised, Values: b.values}
	var logits engine.Outputs
	err := n.options.Torch.Ask(ctx, engine.Apply, rows, &logits)
	return slices.Collect(slices.Chunk(logits.Values, max(1, len(logits.Values)/len(numbers)))), err
}

// rows are a batch's rows as the network wants them.
func (p *Predictor) rows(b batch) []float32 {
	if b.normalised || p.model.Normalisation.Kind == normalise.None {
		return b.values
	}
	values := slices.Clone(b.values)
	p.model.Normalise(values)
	return values
}
