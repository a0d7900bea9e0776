package train

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/selection"
	"iwda/weightest/shifttest"
)

// cheapCriteria cost next to nothing beside an evaluation. The class-weighted risk and the
// divergence of class shares are not among them: their weights must be those of one model that
// all candidates share, which a run does not know. Its evidence is what they follow from.
var cheapCriteria = []string{"source-accuracy-macro", "unexplained", "entropy", "im", "bnm", "mcc"}

// judgement is what an evaluation says by which epochs and runs can be chosen without labels
// of the target.
type judgement struct {
	criteria map[string]float64
	evidence *selection.Evidence // nil where no source row is held out
}

// targetOutputs keeps what judging needs of the target's rows.
func (t *trainer) targetOutputs() *outputs {
	u := newOutputs(t.data.tests, judgedRows)
	u.features = t.needsFeatures()
	return u
}

// heldOutOutputs keeps what judging needs of the held-out rows.
func (t *trainer) heldOutOutputs() *outputs {
	return &outputs{every: 1, features: t.needsFeatures()}
}

func (t *trainer) needsFeatures() bool {
	return slices.ContainsFunc(t.run.Selection.Criteria, func(name string) bool { return name != "snd" })
}

// judge computes all criteria of an evaluation; heldOut is nil where no source row is held
// out. A criterion that has no value here is left out, and the log says why: it must not end
// a run.
func (t *trainer) judge(heldOut, target *outputs) judgement {
	in, err := t.judged(heldOut, target)
	if err != nil {
		t.logf("step %d: nothing to choose by: %v", t.done, err)
		return judgement{}
	}
	j := judgement{criteria: map[string]float64{}}
	for _, name := range append(slices.Clone(cheapCriteria), t.run.Selection.Criteria...) {
		criterion, err := selection.Find(name)
		if err != nil {
			panic(err) // a name that the configuration must not take
		}
		value, err := criterion.Value(in)
		switch {
		case err == nil:
			j.criteria[name] = value
		case heldOut != nil || !errors.Is(err, selection.ErrMissing):
			t.logf("step %d: %v", t.done, err)
		}
	}
	if heldOut == nil {
		return j
	}
	evidence, err := selection.Gather(in)
	if err != nil {
		t.logf("step %d: no evidence: %v", t.done, err)
		return j
	}
	j.evidence = &evidence
	return j
}

// judged is what criteria read: logits that are calibrated on the held-out rows where there
// are some, and the network's own where not.
func (t *trainer) judged(heldOut, target *outputs) (selection.Input, error) {
	in := selection.Input{TargetLogits: target.matrix(), TargetFeatures: target.featureMatrix()}
	if heldOut != nil {
		in.SourceLogits, in.SourceLabels = heldOut.matrix(), heldOut.labels
		var err error
		if in, _, err = selection.Calibrated(in); err != nil {
			return selection.Input{}, err
		}
	}
	for _, name := range t.run.Selection.Criteria {
		var err error
		switch name {
		case "class-ami":
			in.Clusters, err = selection.ClassClusters(in)
		case "iwcv", "dev":
			const mostRows = 2000 // of each domain, from which its classifier learns
			source := heldOut.featureMatrix()
			in.RowWeights, err = selection.DomainWeights(selection.Evenly(source, mostRows), selection.Evenly(in.TargetFeatures, mostRows), source)
		}
		if err != nil {
			t.logf("step %d: %s: %v", t.done, name, err)
		}
	}
	return in, nil
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
	evidence, err := selection.Gather(calibrated)
	if err != nil {
		return err
	}
	known.LikelyShares = evidence.Estimated
	sample, err := calibrated.Sample()
	if err != nil {
		return err
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
	target = t.targetOutputs()
	if err := t.evaluator.evaluate(ctx, t.data.onTest, append(onTarget, target)...); err != nil {
		return nil, nil, nil, err
	}
	if t.data.onHeldOut == nil {
		return nil, target, nil, nil
	}
	heldOut = t.heldOutOutputs()
	counts, loss := newConfusion(len(t.data.classNames)), &crossEntropy{}
	if err := t.evaluator.evaluate(ctx, t.data.onHeldOut, counts, loss, heldOut); err != nil {
		return nil, nil, nil, err
	}
	return heldOut, target, &store.Validation{Rows: loss.rows, Accuracy: counts.accuracy().Value, Loss: loss.mean().Value}, nil
}
