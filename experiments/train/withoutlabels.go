package train

import (
	"context"

	"iwda/classshares"
	"iwda/experiments/store"
	"iwda/torch"
	"iwda/weightest/shifttest"
)

// predictions sums up the probabilities of rows, whatever their labels.
type predictions struct {
	sums      []float64 // of each class's probabilities
	certainty float64   // sum of the largest probabilities
	rows      int
}

func newPredictions(classes int) *predictions { return &predictions{sums: make([]float64, classes)} }

func (p *predictions) take(o rowOutputs) error {
	k := len(p.sums)
	probabilities := torch.ToSlice[float32](o.logits.Softmax(1))
	for ; len(probabilities) > 0; probabilities = probabilities[k:] {
		largest := float32(0)
		for class, probability := range probabilities[:k] {
			p.sums[class] += float64(probability)
			largest = max(largest, probability)
		}
		p.certainty += float64(largest)
		p.rows++
	}
	return nil
}

// shares are the mean probabilities of the classes; there must be rows.
func (p *predictions) shares() []float64 {
	shares := make([]float64, len(p.sums))
	for class, sum := range p.sums {
		shares[class] = sum / float64(p.rows)
	}
	return shares
}

// meanCertainty is the mean of the largest probabilities; there must be rows.
func (p *predictions) meanCertainty() float64 { return p.certainty / float64(p.rows) }

// crossEntropy sums up the losses of the labelled rows.
type crossEntropy struct {
	sum  float64
	rows int
}

func (c *crossEntropy) take(o rowOutputs) error {
	logProbabilities := torch.ToSlice[float32](o.logits.LogSoftmax(1))
	n := o.logits.Shape()[0]
	k := len(logProbabilities) / n
	for row := range n {
		if class, known := o.labels.At(row); known {
			c.sum -= float64(logProbabilities[row*k+class])
			c.rows++
		}
	}
	return nil
}

// mean is the mean loss, if any row has a label.
func (c *crossEntropy) mean() store.Optional[float64] {
	if c.rows == 0 {
		return store.Optional[float64]{}
	}
	return store.Measured(c.sum / float64(c.rows))
}

// describesTarget tells whether the run measures what can be known without target labels:
// where these are missing, or where rows of the source are held out for it.
func (t *trainer) describesTarget() bool { return !t.data.testLabelled || t.data.onHeldOut != nil }

// describingOutputs are what the finished network says of the rows that its calibration, the
// target's class shares and all else that is known without target labels follow from.
type describingOutputs struct {
	heldOut, target *outputs // heldOut is nil if no source row is held out
	predicted       *predictions
	validation      *store.Validation

	how        classshares.Settings
	classifier *classshares.Classifier // nil if nothing is held out, or it cannot be calibrated
	shares     *classshares.Shares     // nil if they cannot be estimated either
}

// describingOutputs passes these rows through the network, nil if nothing asks for them. What
// cannot be had of them, the log says.
func (t *trainer) describingOutputs(ctx context.Context) (o *describingOutputs, err error) {
	if !t.describesTarget() {
		return nil, nil
	}
	k := len(t.data.classNames)
	o = &describingOutputs{predicted: newPredictions(k)}
	if o.heldOut, o.target, o.validation, err = t.evaluateAll(ctx, o.predicted); err != nil || o.heldOut == nil {
		return o, err
	}
	o.how.Trained = classifierShares(t.run, t.classWeights)
	classifier, err := classshares.Calibrate(k, o.heldOut.rows(), o.heldOut.labels, o.how)
	if err != nil {
		t.logf("probabilities are not calibrated: %v", err)
		return o, nil
	}
	if classifier.Note != "" {
		t.logf("calibration: %s", classifier.Note)
	}
	o.classifier = &classifier
	sample, err := classifier.Sample(o.heldOut.rows(), o.heldOut.labels, o.target.rows())
	if err == nil {
		o.shares, err = classshares.Estimate(classifier, sample, nil)
	}
	if err != nil {
		t.logf("the target's class shares are those of the class weights: %v", err)
	}
	return o, nil
}

// withoutLabels is what can be known without target labels at the end of the run, nil
// where that is not asked for. It leaves the network's outputs in the run's folder.
func (t *trainer) withoutLabels(o *describingOutputs) (*store.WithoutLabels, error) {
	if o == nil {
		return nil, nil
	}
	known := &store.WithoutLabels{
		PredictedShares: o.predicted.shares(), EstimatedShares: t.classWeights.targetShares(), Certainty: o.predicted.meanCertainty(),
		Validation: o.validation,
	}
	if o.heldOut == nil {
		return known, nil
	}
	known.TrainedShares = o.how.Trained
	t.describe(known, o)
	return known, t.dir.WriteOutputs(stored(o.heldOut, o.target))
}

// fewestHeldOut is the number of held-out rows a class, on average, below which no expected
// accuracy is measured; research/comparisons/calibration.md has what it is worth.
const fewestHeldOut = 4

// describe adds the target's class shares, the test whether they are all that changed, and the
// expected accuracy.
func (t *trainer) describe(known *store.WithoutLabels, o *describingOutputs) {
	if o.shares == nil {
		return
	}
	known.LikelyShares = o.shares.Target()
	if test, err := o.shares.Test(shifttest.LabelShiftSettings{Seed: 1}); err != nil {
		t.logf("the test of label shift: %v", err)
	} else if test.Tested() {
		known.LabelShiftP = store.Measured(test.P)
	}
	k := len(t.data.classNames)
	if rows := len(o.heldOut.labels); rows < fewestHeldOut*k {
		t.logf("no expected accuracy: %d rows of %d classes are held out, and with fewer than %d a class it is far too high", rows, k, fewestHeldOut)
		return
	}
	const mostRows = 2000 // of the target in a resample
	expected, err := classshares.ExpectAccuracy(k, o.heldOut.rows(), o.heldOut.labels, o.target.rows().Evenly(k, mostRows), o.how, classshares.AccuracySettings{Seed: uint64(t.run.Seed)})
	if err != nil {
		t.logf("the expected accuracy: %v", err)
		return
	}
	known.ExpectedAccuracy = &expected
}
