package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/engine"
	"iwda/experiments/measure"
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

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
