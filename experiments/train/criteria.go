package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/selection"
	"iwda/weightest/shifttest"
)

// measuredCriteria are those that every evaluation measures: of a run by itself, and at next to
// no cost. Others need what all runs share, of which a run knows nothing; package judge computes
// them of what finished runs leave.
var measuredCriteria = []string{"source-accuracy-macro", "unexplained", "entropy", "im", "bnm", "mcc"}

// criteria measures them by logits that are calibrated on the held-out rows, and by the
// network's own where heldOut is nil. One that has no value here is left out, and the log says
// why: it must not end a run.
func (t *trainer) criteria(heldOut, target *outputs) map[string]float64 {
	in := selection.Input{TargetLogits: target.matrix()}
	if heldOut != nil {
		in.SourceLogits, in.SourceLabels = heldOut.matrix(), heldOut.labels
		var err error
		if in, _, err = selection.Calibrated(in); err != nil {
			t.logf("step %d: no criteria: %v", t.done, err)
			return nil
		}
	}
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

// fewestHeldOut is the number of held-out rows a class, on average, below which no expected
// accuracy is measured; research/comparisons/calibration.md has what it is worth.
const fewestHeldOut = 4

// describe adds what the network at the end of a run that holds source rows out lets the
// target's class shares and the accuracy there be, and tests whether shares are all that
// changed. What cannot be had is left out, and the log says why.
func (t *trainer) describe(known *store.WithoutLabels, heldOut, target *outputs) {
	in := selection.Input{SourceLogits: heldOut.matrix(), SourceLabels: heldOut.labels, TargetLogits: target.matrix()}
	if err := likelyShares(known, in, classifierShares(t.run, t.classWeights)); err != nil {
		t.logf("the target's class shares: %v", err)
		return
	}
	if rows, classes := len(heldOut.labels), len(t.data.classNames); rows < fewestHeldOut*classes {
		t.logf("no expected accuracy: %d rows of %d classes are held out, and with fewer than %d a class it is far too high", rows, classes, fewestHeldOut)
		return
	}
	const mostRows = 2000 // of the target in a resample
	in.TargetLogits = selection.Evenly(in.TargetLogits, mostRows)
	expected, err := selection.Expect(in, selection.ExpectedSettings{Seed: uint64(t.run.Seed)})
	if err != nil {
		t.logf("the expected accuracy: %v", err)
		return
	}
	known.ExpectedAccuracy = &expected
}

// likelyShares estimates the target's class shares and tests whether they are all that
// changed, from calibrated probabilities that speak for the held-out rows' class shares. A
// calibration with biases makes them do so; any other leaves them to speak for those of the
// loss, classifier.
func likelyShares(known *store.WithoutLabels, in selection.Input, classifier []float64) error {
	calibrated, calibration, err := selection.Calibrated(in)
	if err != nil {
		return err
	}
	if calibration.Form != savedmodel.BiasCorrected {
		heldOut := datasets.KnownLabels(in.SourceLabels).Shares(len(classifier))
		calibrated.SourceLogits = correctedLogits(calibrated.SourceLogits, heldOut, classifier)
		calibrated.TargetLogits = correctedLogits(calibrated.TargetLogits, heldOut, classifier)
	}
	rows := datasets.KnownLabels(in.SourceLabels).Counts(len(classifier))
	if class := slices.Index(rows, 0); class >= 0 {
		return fmt.Errorf("no held-out source row of class %d", class)
	}
	sample, err := calibrated.Sample()
	if err != nil {
		return err
	}
	if solution, err := selection.TargetShares(sample); err == nil {
		known.LikelyShares = solution.TargetDistribution
	}
	test, err := shifttest.LabelShiftTest(sample, shifttest.LabelShiftSettings{Seed: 1})
	if err != nil {
		return err
	}
	if test.Tested() {
		known.LabelShiftP = store.Measured(test.P)
	}
	return nil
}

// correctedLogits returns logits whose probabilities speak for the class shares to in the
// place of from; those of a class that to lacks stay.
func correctedLogits(logits *mat.Dense, to, from []float64) *mat.Dense {
	var corrected mat.Dense
	corrected.Apply(func(_, class int, z float64) float64 {
		if to[class] == 0 {
			return z
		}
		return z + math.Log(to[class]/from[class])
	}, logits)
	return &corrected
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
