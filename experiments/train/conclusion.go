package train

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"iwda/classshares"
	"iwda/experiments/config"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/torch"
	"iwda/weightest/shifttest"
)

// conclusion is what there is to say of the finished network of a run: its model, see
// savedmodel.go, and what can be known of the target without its labels.
type conclusion struct {
	run     config.Resolved
	data    *data
	weights *classWeights
	logf    func(format string, args ...any)

	// seen are the rows that the calibration, the target's class shares and all else that is
	// known without target labels follow from; nil where nothing asks for them.
	seen       *observations
	how        classshares.Settings
	classifier *classshares.Classifier // nil if nothing is held out, or it cannot be calibrated
	shares     *classshares.Shares     // nil if they cannot be estimated either
	columns    *store.Columns          // whether they agree; nil but for a classifier that is solved for
}

// conclude passes the rows that it takes through the network: where target labels are missing,
// or where rows of the source are held out for it. What cannot be had of them, the log says.
func conclude(ctx context.Context, run config.Resolved, d *data, weights *classWeights, e evaluator, logf func(format string, args ...any)) (*conclusion, error) {
	c := &conclusion{run: run, data: d, weights: weights, logf: logf}
	if d.test.Known() > 0 && d.onHeldOut == nil {
		return c, nil
	}
	var err error
	if c.seen, err = e.observe(ctx, d, finite{}); err != nil || c.seen.heldOut == nil {
		return c, err
	}
	k, heldOut := len(d.classNames), c.seen.heldOut
	c.how.Trained = classifierShares(run, weights)
	if d.crossed != nil {
		c.how.Calibration = "ts" // the class shares that it speaks for, which nothing penalises, are right
	}
	classifier, err := classshares.Calibrate(k, heldOut.rows(), heldOut.labels, c.how)
	if err != nil {
		logf("probabilities are not calibrated: %v", err)
		return c, nil
	}
	if classifier.Note != "" {
		logf("calibration: %s", classifier.Note)
	}
	c.classifier = &classifier
	if c.shares, err = classshares.Estimate(classifier, heldOut.rows(), heldOut.labels, c.seen.compared.rows(), nil); err != nil {
		logf("the target's class shares are those of the class weights: %v", err)
		return c, nil
	}
	return c, c.compareColumns(ctx)
}

// write leaves the model in the run's folder and, where rows are held out, what the network
// says of these and of the target's.
func (c *conclusion) write(dir store.Dir, about savedmodel.Metadata) error {
	if err := about.Write(dir.Disk(), dir.String()); err != nil {
		return err
	}
	if c.seen == nil || c.seen.heldOut == nil {
		return nil
	}
	heldOut, target := c.seen.heldOut, c.seen.target
	outputs := store.Outputs{
		Classes: heldOut.classes, HeldOut: heldOut.logits, HeldOutLabels: heldOut.labels,
		Target: target.logits, TargetLabels: target.labels,
		HeldOutGroups: heldOut.groups, TargetGroups: target.groups,
	}
	if c.seen.compared != target {
		outputs.TargetCrossed = c.seen.compared.logits
	}
	return dir.WriteOutputs(outputs)
}

// withoutLabels is what can be known without target labels at the end of the run, nil
// where that is not asked for.
func (c *conclusion) withoutLabels() *store.WithoutLabels {
	if c.seen == nil {
		return nil
	}
	known := &store.WithoutLabels{
		PredictedShares: c.seen.predicted.shares(), EstimatedShares: c.weights.targetShares(), Certainty: c.seen.predicted.meanCertainty(),
		Validation: c.seen.validation, TrainedShares: c.how.Trained, Calibration: c.how.Calibration,
	}
	c.describe(known)
	return known
}

// describe adds the target's class shares and the test whether they are all that changed.
func (c *conclusion) describe(known *store.WithoutLabels) {
	if c.shares == nil {
		return
	}
	known.LikelyShares = c.shares.Target()
	if test, err := shifttest.LabelShiftTest(c.shares.Sample, shifttest.LabelShiftSettings{Seed: 1}); err != nil {
		c.logf("the test of label shift: %v", err)
	} else if test.Tested() {
		known.LabelShiftP = store.Measured(test.P)
	}
	known.Columns = c.columns
}

// correctedAccuracy is that of predictions of the test rows, if any of them has a label
// and the target's class shares have been estimated.
func correctedAccuracy(ctx context.Context, e evaluator, d *data, about savedmodel.Metadata) (store.Optional[float64], error) {
	if d.test.Known() == 0 || about.Shares.Target == nil {
		return store.Optional[float64]{}, nil
	}
	corrected := correctedConfusion{newConfusion(len(about.Classes)), about}
	if err := e.evaluate(ctx, d.onTest, corrected); err != nil {
		return store.Optional[float64]{}, err
	}
	return corrected.accuracy(), nil
}

// correctedConfusion counts the labelled rows by class and by the class of the largest
// probability, corrected for the target's estimated class shares, as predictions are.
type correctedConfusion struct {
	confusion
	about savedmodel.Metadata
}

func (c correctedConfusion) take(o rowOutputs) error {
	probabilities, err := c.about.Probabilities(torch.ToSlice[float32](o.logits), c.about.Shares.Target)
	if err != nil {
		return err
	}
	k := len(c.about.Classes)
	for i := range o.labels.Len() {
		if class, known := o.labels.At(i); known {
			c.confusion[class][floats.MaxIdx(probabilities[i*k:(i+1)*k])]++
		}
	}
	return nil
}
