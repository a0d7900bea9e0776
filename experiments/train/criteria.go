package train

import (
	"context"
	"errors"

	"iwda/classshares"
	"iwda/experiments/store"
	"iwda/selection"
	"iwda/weightest/calibration"
)

// measuredCriteria are those that every evaluation measures: of a run by itself, and at next to
// no cost. Others need what all runs share, of which a run knows nothing; package judge computes
// them of what finished runs leave.
var measuredCriteria = []string{"source-accuracy-macro", "unexplained", "entropy", "im", "bnm", "mcc"}

// criteria measures them by logits that are calibrated on the held-out rows, and by the
// network's own where heldOut is nil. One that has no value here is left out, and the log says
// why: it must not end a run.
func (t *trainer) criteria(heldOut, target *outputs) map[string]float64 {
	k := len(t.data.classNames)
	as := classshares.Classifier{Calibration: calibration.Identity(k)}
	var in selection.Input
	if heldOut != nil {
		var err error
		if as, err = classshares.Calibrate(k, heldOut.rows(), heldOut.labels, classshares.Settings{}); err != nil {
			t.logf("step %d: no criteria: %v", t.done, err)
			return nil
		}
		in.SourceLogits, in.SourceLabels = as.Logits(heldOut.rows()), heldOut.labels
	}
	in.TargetLogits = as.Logits(target.rows())
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
		case heldOut != nil || !errors.Is(err, selection.ErrMissing):
			t.logf("step %d: %v", t.done, err)
		}
	}
	return values
}

// evaluateAll passes the target's rows and, where some are held out, the source's through the
// network. heldOut is nil where none are.
func (t *trainer) evaluateAll(ctx context.Context, onTarget ...taker) (heldOut, target *outputs, validation *store.Validation, err error) {
	target = newOutputs(t.data.tests, judgedRows)
	if err := t.evaluator.evaluate(ctx, t.data.onTest, append(onTarget, target)...); err != nil {
		return nil, nil, nil, err
	}
	if t.data.onHeldOut == nil {
		return nil, target, nil, nil
	}
	heldOut = &outputs{every: 1}
	counts, loss := newConfusion(len(t.data.classNames)), &crossEntropy{}
	if err := t.evaluator.evaluate(ctx, t.data.onHeldOut, counts, loss, heldOut); err != nil {
		return nil, nil, nil, err
	}
	return heldOut, target, &store.Validation{Rows: loss.rows, Accuracy: counts.accuracy().Value, Loss: loss.mean().Value}, nil
}
