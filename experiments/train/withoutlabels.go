package train

import (
	"context"

	"iwda/experiments/store"
	"iwda/torch"
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
	heldOut, target *outputs // heldOut is nil where no source row is held out
	predicted       *predictions
	validation      *store.Validation
}

// describingOutputs passes these rows through the network, nil where nothing asks for them.
func (t *trainer) describingOutputs(ctx context.Context) (o *describingOutputs, err error) {
	if !t.describesTarget() {
		return nil, nil
	}
	o = &describingOutputs{predicted: newPredictions(len(t.data.classNames))}
	o.heldOut, o.target, o.validation, err = t.evaluateAll(ctx, o.predicted)
	return o, err
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
	t.describe(known, o.heldOut, o.target)
	return known, t.dir.WriteOutputs(stored(o.heldOut, o.target))
}
