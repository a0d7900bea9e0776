package train

import (
	"errors"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/losses/form"
	"iwda/nets/architecture"
)

// errNotKept says that a run's network cannot be made again.
var errNotKept = errors.New("its frozen backbone was drawn at random, and network.views leaves it out of the checkpoint")

// writeModel writes what the run's network is, for those who use it later. A network that
// cannot be made again from the folder has no such file, which the log says.
func (t *trainer) writeModel() error {
	about, err := t.about()
	if errors.Is(err, errNotKept) {
		t.logf("no %s is written: %v", savedmodel.MetadataFile, err)
		return nil
	}
	if err != nil {
		return err
	}
	return about.Write(t.dir.String())
}

// about describes the run's model.
func (t *trainer) about() (savedmodel.Metadata, error) {
	network, err := t.architecture()
	if err != nil {
		return savedmodel.Metadata{}, err
	}
	described, err := t.run.Dataset.Described()
	if err != nil {
		return savedmodel.Metadata{}, err
	}
	m := savedmodel.Metadata{
		Architecture: network,
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
	return m, nil
}

func (t *trainer) architecture() (savedmodel.Architecture, error) {
	n := t.run.Network
	name, err := architecture.Parse(n.Name)
	if err != nil {
		return savedmodel.Architecture{}, err
	}
	if name == architecture.MLP {
		return savedmodel.Architecture{Name: name, HiddenLayers: n.Layers, HiddenSize: n.Features}, nil
	}
	a := savedmodel.Architecture{Name: name, Frozen: n.Frozen}
	if n.Frozen && n.Views > 0 {
		if t.model.pretrainedSHA256 == "" {
			return savedmodel.Architecture{}, errNotKept
		}
		a.Backbone = &savedmodel.Backbone{File: n.Pretrained, SHA256: t.model.pretrainedSHA256}
	}
	return a, nil
}

// inputOf says what a row of that kind is, and what happened to it before the network.
func (t *trainer) inputOf(kind catalogue.Kind) (savedmodel.Input, savedmodel.Normalisation) {
	switch kind {
	case catalogue.SmallImages: // see datasets.Images.CopyRow
		return savedmodel.Input{Kind: savedmodel.Images, Shape: t.data.rowShape}, standardised([]float32{0.5}, []float32{0.5})
	case catalogue.ImageFiles:
		mean, deviation := images.Normalisation()
		d := t.run.Dataset
		return savedmodel.Input{Kind: savedmodel.Images, Shape: []int{3, d.Crop, d.Crop}, Resize: d.Resize}, standardised(mean[:], deviation[:])
	}
	return savedmodel.Input{Kind: savedmodel.Features, Shape: t.data.rowShape}, t.data.normalisation.saved()
}

// saved is the normalisation of features as a model keeps it.
func (n normalisation) saved() savedmodel.Normalisation {
	switch n.way {
	case config.Standardise:
		return savedmodel.Normalisation{
			Kind:   savedmodel.Standardised,
			Source: &savedmodel.Statistics{Mean: n.source.Mean, Deviation: n.source.Deviation},
			Target: &savedmodel.Statistics{Mean: n.target.Mean, Deviation: n.target.Deviation},
		}
	case config.UnitLength:
		return savedmodel.Normalisation{Kind: savedmodel.UnitLength}
	}
	return savedmodel.Normalisation{Kind: savedmodel.NotNormalised}
}

func standardised(mean, deviation []float32) savedmodel.Normalisation {
	return savedmodel.Normalisation{Kind: savedmodel.Standardised, Target: &savedmodel.Statistics{Mean: mean, Deviation: deviation}}
}

// targetShares are the class shares of the target that follow from the estimated weights.
func (w *classWeights) targetShares() []float64 {
	shares := make([]float64, len(w.source))
	floats.MulTo(shares, w.tracker.Weights(), w.source)
	return normalised(shares)
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
