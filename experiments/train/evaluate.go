package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/engine"
	"iwda/experiments/measure"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/nets"
	"iwda/torch"
)

// evaluator passes sets of rows through a network in evaluation mode.
type evaluator struct {
	forward   func(rows torch.Tensor) torch.Tensor
	batchSize int
	device    torch.Device
}

// logitsOf is what an evaluator asks of a network for its logits.
func logitsOf(network nets.Network) func(rows torch.Tensor) torch.Tensor {
	return func(rows torch.Tensor) torch.Tensor {
		_, logits := network.Forward(rows, false)
		return logits
	}
}

// evaluate passes all rows of a set through the network once and hands what it says of
// them to every taker in turn. It ends at the first error.
func (e evaluator) evaluate(ctx context.Context, set rowReader, takers ...measure.Taker) error {
	for b, err := range set.batches(ctx, e.batchSize) {
		if err != nil {
			return err
		}
		torch.Tidy(func() {
			torch.NoGrad(func() {
				o := measure.Batch{Logits: torch.ToSlice[float32](e.forward(b.tensor(e.device))), Labels: b.labels}
				for _, t := range takers {
					if err = t.Take(o); err != nil {
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

// features returns what comes out of a set of rows as a set of that name.
func (e evaluator) features(ctx context.Context, name string, rows rowReader, classNames []string) (*datasets.Features, error) {
	all := &measure.Outputs{}
	if err := e.evaluate(ctx, rows, all); err != nil {
		return nil, err
	}
	var labels datasets.Labels
	for _, class := range all.Labels {
		labels.Add(max(0, class), class >= 0)
	}
	return datasets.NewFeatures(name, all.Logits, labels, classNames)
}

// pass is that of a set through the network; nil for no set.
func (e evaluator) pass(set rowReader) measure.Pass {
	if set == nil {
		return nil
	}
	return func(ctx context.Context, takers ...measure.Taker) error { return e.evaluate(ctx, set, takers...) }
}

// sets are those of the data through the network.
func (e evaluator) sets(d *data) measure.Sets {
	return measure.Sets{Test: e.pass(d.onTest), HeldOut: e.pass(d.onHeldOut)}
}

// finite ends at an output that is not a finite number.
type finite struct{ step int }

func (f finite) Take(o measure.Batch) error {
	sum := 0.0
	for _, logit := range o.Logits {
		sum += float64(logit)
	}
	return f.check("network's output in evaluation", sum)
}

// check returns a [*DivergedError] if the sum of some numbers is not finite.
func (f finite) check(term string, sum float64) error {
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return &DivergedError{term, sum, f.step}
	}
	return nil
}

// mustBeFinite tells what training changes, among it running means and variances, from other buffers
// of a user's module, of which some are meant to be infinite, such as masks of attention.
func mustBeFinite(e nets.Entry) bool {
	return e.Trained || strings.HasSuffix(e.Name, "running_mean") || strings.HasSuffix(e.Name, "running_var")
}

// checkFinite returns a [*DivergedError] if a tensor has a value that is not finite.
func checkFinite(term string, x torch.Tensor, step int) (err error) {
	torch.Tidy(func() {
		err = finite{step}.check(term, x.Detach().To(torch.Float64, torch.CPU).Sum().Item())
	})
	return err
}

// mostOpened is the number of data of which the rows are counted; further ones count as their mean.
const mostOpened = 4

// EstimateCost measures some steps and evaluated rows of each alignment and network on the options' device,
// and multiplies them by the steps and rows of the runs. It is unknown of runs whose data or pretrained
// weights are not there, and of those that first compute features or make no steps.
func EstimateCost(ctx context.Context, runs []plan.Run, options Options) (c engine.Costs) {
	paces, lengths := map[string]pace{}, map[string]length{}
	var opened length
	for _, run := range runs {
		r := run.Config
		data := fmt.Sprintf("%s %s %+v %+v", r.Task, r.Variant, r.Dataset, r.Train)
		l, known := lengths[data]
		switch n := len(lengths); {
		case !known && n < mostOpened:
			l = lengthOf(r)
			opened = length{opened.steps + l.steps, opened.rows + l.rows, cmp.Or(opened.err, l.err)}
			lengths[data] = l
		case !known:
			l = length{opened.steps / n, opened.rows / n, opened.err}
		}
		m, _ := config.ParseMethod(r.Method) // weights take no time
		kind := fmt.Sprintf("%s %+v %+v %v %v", m.Alignment, r.Network, r.Discriminator, r.Train.Batch, r.Dataset.Crop)
		p, known := paces[kind]
		if !known && l.err == nil {
			failed := try(func() (err error) { p, err = measurePace(ctx, r, options); return err })
			p.err = failed
			paces[kind] = p
		}
		if err := cmp.Or(l.err, p.err); err != nil {
			c.Unknown = cmp.Or(c.Unknown, err.Error())
			continue
		}
		c.Runs++
		c.Time += time.Duration(l.steps)*p.step + time.Duration(l.rows)*p.row
	}
	return c
}

// length is that of a run: its steps, and the rows that its evaluations pass through the network.
type length struct {
	steps, rows int
	err         error
}

// lengthOf counts rows, those of images without reading any.
func lengthOf(run config.Resolved) (l length) {
	source, test := 0, 0
	described, err := run.Dataset.Described()
	switch {
	case err != nil:
	case described.Kind == catalogue.ImageFiles:
		var sets catalogue.ImageTask
		if sets, err = domains.FindImages(run); err == nil {
			source, test = sets.Source.Len(), sets.Test.Len()
			largest := source
			if parts := domains.PartsOf(run, sets.Source.Parts()); parts != nil {
				largest = 0
				for _, part := range parts {
					largest = max(largest, len(part.Rows))
				}
			}
			l.steps = newClock(run.Train, largest/run.Train.Batch).steps()
		}
	default:
		var d *data
		if d, err = openData(run); err == nil {
			source, test = d.Labels.Source.Len(), d.Labels.Test.Len()
			l.steps = newClock(run.Train, d.feed.passSteps()).steps()
			err = d.close()
		}
	}
	l.rows, l.err = (1+run.Train.Evaluations())*test+source, err // the source's once, at the end
	return l
}

// pace is the time of a step and of an evaluated row.
type pace struct {
	step, row time.Duration
	err       error
}

// measurePace makes a few steps of a run that is then forgotten.
func measurePace(ctx context.Context, run config.Resolved, options Options) (p pace, err error) {
	if run.WithoutSteps() {
		return p, errors.New("the network is made without steps")
	}
	if run.Network.Frozen {
		return p, errors.New("a frozen backbone first computes the features of all images")
	}
	t, err := newTrainer(ctx, run, store.Dir{}, options, time.Now())
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	const warm, most, enough = 3, 40, time.Second
	at := position{epoch: run.Train.DomainFromEpoch} // with the domain loss
	var started time.Time
	steps := 0
	for ; steps < warm+most && (steps <= warm || time.Since(started) < enough); steps++ {
		if steps == warm { // a GPU has captured its steps
			if err := t.readSteps(); err != nil {
				return p, err
			}
			started = time.Now()
		}
		at.step = steps
		if err := t.step(ctx, at); err != nil {
			return p, err
		}
	}
	if err := t.readSteps(); err != nil {
		return p, err
	}
	p.step = time.Since(started) / time.Duration(steps-warm)

	rows := &countedRows{enough: enough / 2, started: time.Now()}
	if err := t.evaluator.evaluate(ctx, t.data.onTest, measure.NewConfusion(len(t.data.Classes)), rows); err != nil && !errors.Is(err, errEnough) {
		return p, err
	}
	p.row = time.Since(rows.started) / time.Duration(rows.n)
	return p, nil
}

var errEnough = errors.New("enough was measured")

// countedRows ends an evaluation that takes long.
type countedRows struct {
	n       int
	started time.Time
	enough  time.Duration
}

func (c *countedRows) Take(o measure.Batch) error {
	if c.n += o.Labels.Len(); time.Since(c.started) > c.enough {
		return errEnough
	}
	return nil
}
