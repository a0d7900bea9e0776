package train

import (
	"path/filepath"
	"slices"

	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/nets"
	"iwda/nets/architecture"
)

// about describes the run's model. With held-out source rows it is calibrated on these,
// and the target's class shares are those under which its calibrated probabilities of the
// target's test rows are most likely; without, they follow from the class weights.
func (c *conclusion) about(of *model) (savedmodel.Metadata, error) {
	described, err := c.run.Dataset.Described()
	if err != nil {
		return savedmodel.Metadata{}, err
	}
	m := savedmodel.Metadata{
		Architecture: architectureOf(c.run.Network, of),
		Classes:      c.data.classNames,
		Shares: savedmodel.Shares{
			Source:     c.weights.source,
			Target:     c.weights.targetShares(),
			Classifier: classifierShares(c.run, c.weights),
		},
		Versions: versions(),
		Provenance: map[string]string{
			"run": plan.Of(c.run).ID.String(), "experiment": c.run.Experiment, "config_hash": c.run.Hash(),
		},
	}
	if c.weights.known != nil {
		m.Shares.Target = c.weights.known
	}
	m.Input, m.Normalisation = inputOf(c.run, c.data, described.Kind)
	if c.classifier == nil {
		return m, nil
	}
	m.Calibration = &savedmodel.Calibration{Form: c.classifier.Form, Scales: c.classifier.Scales, Biases: c.classifier.Biases}
	m.Shares.Classifier = c.classifier.SpeaksFor
	if slices.Contains(m.Shares.Classifier, 0) { // a class that is in no held-out row
		m.Shares.Classifier = c.how.Trained
	}
	if c.shares != nil && c.weights.known == nil {
		m.Shares.Target = c.shares.Target()
	}
	return m, nil
}

func architectureOf(n config.Network, of *model) savedmodel.Architecture {
	name := architecture.Name(n.Name)
	if grown, is := of.network.(*nets.Trees); is {
		trees, nodes, leaves := grown.Sizes()
		return savedmodel.Architecture{Name: name, Trees: trees, Nodes: nodes, Leaves: leaves}
	}
	if name == architecture.MLP {
		return savedmodel.Architecture{Name: name, HiddenLayers: n.Layers, HiddenSize: n.Features}
	}
	a := savedmodel.Architecture{Name: name, Frozen: n.Frozen}
	file := ""
	switch {
	case name == architecture.TorchScript:
		file = n.File
	case n.Frozen && n.Views > 0:
		file = n.Pretrained
	default:
		return a
	}
	if whole, err := filepath.Abs(file); err == nil { // as it is found from any working directory
		file = whole
	}
	a.Backbone = &savedmodel.Backbone{File: file, SHA256: of.pretrainedSHA256}
	return a
}

// inputOf says what a row of that kind is, and what happened to it before the network.
func inputOf(run config.Resolved, d *data, kind catalogue.Kind) (savedmodel.Input, normalise.Normalisation) {
	switch kind {
	case catalogue.SmallImages: // see datasets.Images.CopyRow
		return savedmodel.Input{Kind: savedmodel.Images, Shape: d.rowShape}, normalise.Channels([]float32{0.5}, []float32{0.5})
	case catalogue.ImageFiles:
		mean, deviation := images.Normalisation()
		return savedmodel.Input{Kind: savedmodel.Images, Shape: cropShape(run), Resize: run.Dataset.Resize}, normalise.Channels(mean[:], deviation[:])
	}
	in := savedmodel.Input{Kind: savedmodel.Features, Shape: d.rowShape, Columns: d.columns, Encoding: d.encoding, Origins: d.origins, Decimal: d.decimal}
	_, target := run.Domains()
	for _, files := range run.Dataset.Domains {
		if files.Domain == target {
			in.IDColumn = files.ID
		}
	}
	return in, d.normalisation
}
