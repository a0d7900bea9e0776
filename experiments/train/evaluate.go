package train

import (
	"context"
	"errors"

	"iwda/classshares"
	"iwda/datasets"
	"iwda/experiments/store"
	"iwda/internal/evenly"
	"iwda/nets"
	"iwda/selection"
	"iwda/torch"
	"iwda/weightest/calibration"
)

// evaluator passes sets of rows through a network in evaluation mode.
type evaluator struct {
	forward   func(rows torch.Tensor) torch.Tensor
	batchSize int
	device    torch.Device
	alive     func() // called when a batch has been dealt with
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
func (e evaluator) evaluate(ctx context.Context, set rowReader, takers ...taker) error {
	for b, err := range set.batches(ctx, e.batchSize) {
		if err != nil {
			return err
		}
		torch.Tidy(func() {
			torch.NoGrad(func() {
				o := rowOutputs{e.forward(b.tensor(e.device)), b.labels}
				for _, t := range takers {
					if err = t.take(o); err != nil {
						return
					}
				}
			})
		})
		if err != nil {
			return err
		}
		e.alive()
	}
	return nil
}

// features returns what comes out of a set of rows as a set of that name.
func (e evaluator) features(ctx context.Context, name string, rows rowReader, classNames []string) (*datasets.Features, error) {
	all := &outputs{}
	if err := e.evaluate(ctx, rows, all); err != nil {
		return nil, err
	}
	var labels datasets.Labels
	for _, class := range all.labels {
		labels.Add(max(0, class), class >= 0)
	}
	return datasets.NewFeatures(name, all.logits, labels, classNames)
}

// observations are what the network says of the target's test rows and, where some are held
// out, of the source's.
type observations struct {
	onTest          confusion
	predicted       *predictions
	heldOut, target *outputs // heldOut is nil where none are
	compared        *outputs // of the target's rows, by what spoke of heldOut
	validation      *store.Validation
	unlabelled      bool // no test row has a label
}

// observe passes these rows through the network, and the test rows by a taker more.
func (e evaluator) observe(ctx context.Context, d *data, also taker) (*observations, error) {
	k := len(d.classNames)
	o := &observations{onTest: newConfusion(k), predicted: newPredictions(k), unlabelled: d.test.Known() == 0}
	if d.onHeldOut == nil {
		o.target = everyNth(d.test.Len(), store.MostJudged)
	} else {
		o.target = &outputs{kept: store.JudgedRows(d.test.Len())}
	}
	if d.groups.test != nil {
		o.target.groups = evenly.Pick(d.groups.test, o.target.kept)
	}
	o.compared = o.target
	if err := e.evaluate(ctx, d.onTest, also, o.onTest, o.predicted, o.target); err != nil || d.onHeldOut == nil {
		return o, err
	}
	counts, loss := newConfusion(k), &crossEntropy{}
	if d.crossed != nil {
		o.heldOut, o.compared = d.crossed.heldOut, d.crossed.target
		torch.Tidy(func() {
			all := rowOutputs{torch.FromSlice(o.heldOut.logits, len(o.heldOut.labels), k), datasets.KnownLabels(o.heldOut.labels)}
			counts.take(all)
			loss.take(all)
		})
	} else {
		o.heldOut = &outputs{groups: d.groups.heldOut}
		if err := e.evaluate(ctx, d.onHeldOut, also, counts, loss, o.heldOut); err != nil {
			return nil, err
		}
	}
	o.validation = &store.Validation{Rows: loss.rows, Accuracy: counts.accuracy().Value, Loss: mean(loss.sum, loss.rows).Value}
	return o, nil
}

// describe sets in a line of metrics what is measured where target labels are missing, or
// where rows of the source are held out for it.
func (o *observations) describe(m *store.Metrics) {
	if o.unlabelled || o.heldOut != nil {
		m.Certainty = store.Measured(o.predicted.meanCertainty())
	}
	if v := o.validation; v != nil {
		m.ValidationAccuracy, m.ValidationLoss = store.Measured(v.Accuracy), store.Measured(v.Loss)
	}
}

// measuredCriteria are those that every evaluation measures: of a run by itself, and at next to
// no cost. Others need what all runs share, of which a run knows nothing; package judge computes
// them of what finished runs leave.
var measuredCriteria = []string{"source-accuracy-macro", "unexplained", "entropy", "im", "bnm", "mcc"}

// criteria measures them after that step by logits that are calibrated on the held-out rows, and
// by the network's own if there are none. One that has no value here is left out, and the log says
// why: it must not end a run.
func (o *observations) criteria(step int, logf func(format string, args ...any)) map[string]float64 {
	as := classshares.Classifier{Calibration: calibration.Identity(o.target.classes)}
	var in selection.Input
	if o.heldOut != nil {
		var err error
		if as, err = classshares.Calibrate(o.target.classes, o.heldOut.rows(), o.heldOut.labels, classshares.Settings{}); err != nil {
			logf("step %d: no criteria: %v", step, err)
			return nil
		}
		in.SourceLogits, in.SourceLabels = as.Logits(o.heldOut.rows()), o.heldOut.labels
	}
	in.TargetLogits = as.Logits(o.compared.rows())
	values := map[string]float64{}
	for _, name := range measuredCriteria {
		criterion, err := selection.Find(name)
		if err != nil {
			panic(err)
		}
		value, err := criterion.Value(in)
		switch {
		case err == nil:
			values[name] = value
		case o.heldOut != nil || !errors.Is(err, selection.ErrMissing):
			logf("step %d: %v", step, err)
		}
	}
	return values
}
