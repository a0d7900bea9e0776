package train

import (
	"path/filepath"

	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	"iwda/experiments/measure"
	savedmodel "iwda/experiments/model"
	"iwda/nets/architecture"
	"iwda/torch"
)

// about describes the network of the run, for the model that it leaves.
func about(run config.Resolved, d *data, of *model) (savedmodel.Metadata, error) {
	described, err := run.Dataset.Described()
	if err != nil {
		return savedmodel.Metadata{}, err
	}
	m := savedmodel.Metadata{Architecture: architectureOf(run.Network, of), Versions: measure.Versions()}
	m.Versions["libtorch"] = torch.Version()
	m.Input, m.Normalisation = inputOf(run, d, described.Kind)
	return m, nil
}

func architectureOf(n config.Network, of *model) savedmodel.Architecture {
	name := architecture.Name(n.Name)
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
		return savedmodel.Input{Kind: savedmodel.Images, Shape: d.Shape}, normalise.Channels([]float32{0.5}, []float32{0.5})
	case catalogue.ImageFiles:
		mean, deviation := images.Normalisation()
		return savedmodel.Input{Kind: savedmodel.Images, Shape: cropShape(run), Resize: run.Dataset.Resize}, normalise.Channels(mean[:], deviation[:])
	}
	return measure.Input(run, &d.About), d.Normalisation
}
