package train

import (
	"context"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/losses/form"
	"iwda/nets/architecture"
	"iwda/torch"
)

// writeModel writes what the run's network is, for those who use it later. A network that
// cannot be made again from the folder has no such file, which the log says.
func (t *trainer) writeModel(about savedmodel.Metadata) error {
	if b := about.Architecture.Backbone; b != nil && b.SHA256 == "" {
		t.logf("no %s is written: the frozen backbone was drawn at random, and network.views leaves it out of the checkpoint", savedmodel.MetadataFile)
		return nil
	}
	return about.Write(t.dir.String())
}

// about describes the run's model. With held-out source rows it is calibrated on these,
// and the target's class shares are those under which its calibrated probabilities of the
// target's test rows are most likely; without, they follow from the class weights.
func (t *trainer) about(o *describingOutputs) (savedmodel.Metadata, error) {
	described, err := t.run.Dataset.Described()
	if err != nil {
		return savedmodel.Metadata{}, err
	}
	m := savedmodel.Metadata{
		Architecture: t.architecture(),
		Classes:      t.data.classNames,
		Shares: savedmodel.Shares{
			Source:     t.classWeights.source,
			Target:     t.classWeights.targetShares(),
			Classifier: classifierShares(t.run, t.classWeights),
		},
		Versions: versions(),
		Provenance: map[string]string{
			"run": plan.Of(t.run).ID.String(), "experiment": t.run.Experiment, "config_hash": t.run.Hash(),
		},
	}
	m.Input, m.Normalisation = t.inputOf(described.Kind)
	if o == nil || o.classifier == nil {
		return m, nil
	}
	c := o.classifier
	m.Calibration = &savedmodel.Calibration{Form: c.Form, Scales: c.Scales, Biases: c.Biases}
	m.Shares.Classifier = c.SpeaksFor
	if slices.Contains(c.SpeaksFor, 0) { // a class that is in no held-out row
		m.Shares.Classifier = o.how.Trained
	}
	if o.shares != nil {
		m.Shares.Target = o.shares.Target()
	}
	return m, nil
}

func (t *trainer) architecture() savedmodel.Architecture {
	n := t.run.Network
	name := architecture.Name(n.Name)
	if name == architecture.MLP {
		return savedmodel.Architecture{Name: name, HiddenLayers: n.Layers, HiddenSize: n.Features}
	}
	a := savedmodel.Architecture{Name: name, Frozen: n.Frozen}
	switch {
	case name == architecture.TorchScript:
		a.Backbone = t.backbone(n.File)
	case n.Frozen && n.Views > 0:
		a.Backbone = t.backbone(n.Pretrained)
	}
	return a
}

// backbone is the file as it is found from any working directory.
func (t *trainer) backbone(file string) *savedmodel.Backbone {
	if whole, err := filepath.Abs(file); err == nil {
		file = whole
	}
	return &savedmodel.Backbone{File: file, SHA256: t.model.pretrainedSHA256}
}

// correctedAccuracy is that of predictions of the test rows, if any of them has a label
// and the target's class shares have been estimated.
func (t *trainer) correctedAccuracy(ctx context.Context, about savedmodel.Metadata) (store.Optional[float64], error) {
	if !t.data.testLabelled || about.Shares.Target == nil {
		return store.Optional[float64]{}, nil
	}
	corrected := correctedConfusion{newConfusion(len(about.Classes)), about}
	if err := t.evaluator.evaluate(ctx, t.data.onTest, corrected); err != nil {
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

// inputOf says what a row of that kind is, and what happened to it before the network.
func (t *trainer) inputOf(kind catalogue.Kind) (savedmodel.Input, normalise.Normalisation) {
	switch kind {
	case catalogue.SmallImages: // see datasets.Images.CopyRow
		return savedmodel.Input{Kind: savedmodel.Images, Shape: t.data.rowShape}, normalise.Channels([]float32{0.5}, []float32{0.5})
	case catalogue.ImageFiles:
		mean, deviation := images.Normalisation()
		return savedmodel.Input{Kind: savedmodel.Images, Shape: cropShape(t.run), Resize: t.run.Dataset.Resize}, normalise.Channels(mean[:], deviation[:])
	}
	return savedmodel.Input{Kind: savedmodel.Features, Shape: t.data.rowShape, Columns: t.data.columns}, t.data.normalisation
}

// targetShares are the class shares of the target that follow from the estimated weights,
// nil before the first estimate, while all weights are one.
func (w *classWeights) targetShares() []float64 {
	weights := w.tracker.Weights()
	if !slices.ContainsFunc(weights, func(weight float64) bool { return weight != 1 }) {
		return nil
	}
	floats.Mul(weights, w.source)
	return normalised(weights)
}

// normalised scales numbers, of which one is positive, to a sum of 1.
func normalised(shares []float64) []float64 {
	floats.Scale(1/floats.Sum(shares), shares)
	return shares
}

// leastWeight stands for a smaller weight in the shares of a classifier: one of 0 leaves a
// class out of the loss, and what the network then says of it follows from no share.
const leastWeight = 1e-3

// classifierShares are the class shares for which the network's probabilities speak. A
// loss that counts the source's rows of class y by a factor r_y is that of a sample of
// which a part D_S(y)·r_y is of class y; see "Predictions under other class shares" in
// docs/methods.md.
func classifierShares(run config.Resolved, w *classWeights) []float64 {
	shares := make([]float64, len(w.source))
	method, _ := config.ParseMethod(run.Method)
	if !method.WeightClassification {
		copy(shares, w.source)
		return shares
	}
	for y := range shares {
		shares[y] = 1
	}
	if form.Classification(run.Losses.Classification) == form.WeightedBalanced {
		weights := w.tracker.Weights()
		if method.Weights == config.OracleWeights {
			weights = w.truth
		}
		for y, weight := range weights {
			shares[y] = max(weight, leastWeight)
		}
	}
	return normalised(shares)
}
