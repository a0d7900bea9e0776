package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/datasets/normalise"
	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/measure"
	savedmodel "iwda/experiments/model"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// model is the network of a run.
type model struct {
	network nets.Network
	// evaluated is the part of the network that maps the rows of an evaluation to
	// logits: all of it, unless a frozen backbone's features are computed in advance.
	evaluated nets.Network
	apart     bool // in training each domain passes through the network on its own
	// pretrainedSHA256 is the hash of the file of pretrained weights, or empty.
	pretrainedSHA256 string
	device           torch.Device
}

// openModelAndData makes the two that may depend on each other: image files need a
// frozen backbone, networks the classes of the data. Initialisation draws from random.
func openModelAndData(ctx context.Context, run config.Resolved, random *torch.Random, options Options) (*model, *data, error) {
	described, err := run.Dataset.Described()
	if err != nil {
		return nil, nil, err
	}
	m := &model{device: options.Device}
	if described.Kind != catalogue.ImageFiles {
		d, err := openData(run)
		if err != nil {
			return nil, nil, err
		}
		random.Lend(func() { m.network, m.pretrainedSHA256, err = newNetwork(run, d.Shape, len(d.Classes)) })
		if err != nil {
			return nil, nil, errors.Join(err, d.close())
		}
		m.evaluated = m.network
		_, m.apart = m.network.(*nets.FineTuned)
		return m, d, nil
	}
	classes := len(described.Classes)
	if classes == 0 { // the files say
		found, err := domains.FindImages(run)
		if err != nil {
			return nil, nil, err
		}
		classes = len(found.Source.ClassNames())
	}
	random.Lend(func() { m.network, m.pretrainedSHA256, err = newNetwork(run, cropShape(run), classes) })
	if err != nil {
		return nil, nil, err
	}
	m.network.State().Move(torch.Float32, options.Device)
	d, err := openImages(ctx, run, m.network, options)
	if err != nil {
		return nil, nil, err
	}
	m.evaluated, m.apart = m.network, true
	if frozen, ok := m.network.(*nets.Frozen); ok {
		m.evaluated, m.apart = frozen.OnPooled(), false
		if run.Network.Views > 0 {
			m.network = m.evaluated
		}
	}
	return m, d, nil
}

// newNetwork makes the network of a run, of rows of that shape and that many classes. It
// returns the SHA-256 of the file of pretrained weights or of the backbone, empty where
// there is none.
func newNetwork(run config.Resolved, rowShape []int, classes int) (network nets.Network, pretrainedSHA256 string, err error) {
	n := run.Network
	name, err := architecture.Parse(n.Name)
	if err != nil {
		return nil, "", err
	}
	settings := nets.Settings{
		Classes:  classes,
		RowShape: rowShape, HiddenLayers: n.Layers, HiddenSize: n.Features,
		Weights: n.Pretrained, Frozen: n.Frozen,
	}
	switch {
	case name == architecture.TorchScript:
		settings.Weights = n.File
	case n.Pretrained == config.NotPretrained:
		settings.Weights = ""
	}
	network, pretrainedSHA256, err = nets.New(name, settings)
	switch {
	case err == nil:
		return network, pretrainedSHA256, nil
	case name == architecture.TorchScript:
		return nil, "", fmt.Errorf("network.file: %w", err)
	}
	return nil, "", fmt.Errorf("network.pretrained: %w; or set it to %s to train from scratch", err, config.NotPretrained)
}

// stepOutputs are what the network says of one step's batch. Source rows come first.
type stepOutputs struct {
	features torch.Tensor // z of both domains, or of the source alone where they are not aligned
	logits   torch.Tensor // of the same rows (rows × k)
	labels   torch.Tensor // of the source rows (B)
	// probabilities are the predictions of all rows, (2B × k), for the statistics behind
	// the class weights.
	probabilities torch.Tensor
	// rowWeights is w_y of each source row (B), the zero Tensor if the domain loss is not weighted.
	rowWeights torch.Tensor
}

// split cuts rows of both domains into the source's and the target's.
func (f stepOutputs) split(x torch.Tensor) (source, target torch.Tensor) {
	rows := f.labels.Len()
	return x.Narrow(0, 0, rows), x.Narrow(0, rows, x.Shape()[0]-rows)
}

// ofSource returns what there is of one of n sources, with the target.
func (f stepOutputs) ofSource(source, n int) stepOutputs {
	if n == 1 {
		return f
	}
	rows := f.labels.Len() / n
	pick := func(x torch.Tensor) torch.Tensor {
		of, target := x.Narrow(0, source*rows, rows), x.Shape()[0]-n*rows
		if target == 0 {
			return of
		}
		return torch.Cat(0, of, x.Narrow(0, n*rows, target))
	}
	return stepOutputs{features: pick(f.features), logits: pick(f.logits), labels: f.labels.Narrow(0, source*rows, rows)}
}

// stepInputs are a batch on the device.
type stepInputs struct {
	source, target torch.Tensor // rows × their shape, those of several sources one after the other
	labels         torch.Tensor // of the source rows
}

func (m *model) inputs(b batch) stepInputs {
	source, target := b.images(m.device)
	return stepInputs{source, target, torch.Upload(b.labels, m.device, len(b.labels))}
}

// forward passes a batch through the network in training mode. Where the domains are not
// aligned, the target serves the statistics behind the class weights alone.
func (m *model) forward(in stepInputs, aligned bool) (f stepOutputs) {
	f.labels = in.labels
	sources := []torch.Tensor{in.source}
	if rows := in.target.Shape()[0]; m.apart && in.labels.Len() > rows {
		sources = nil
		for first := 0; first < in.labels.Len(); first += rows {
			sources = append(sources, in.source.Narrow(0, first, rows))
		}
	}
	var logits torch.Tensor // of all rows
	if aligned {
		f.features, f.logits = m.passDomains(append(sources, in.target)...)
		logits = f.logits
	} else {
		f.features, f.logits = m.passDomains(sources...)
		torch.NoGrad(func() {
			_, ofTarget := m.network.Forward(in.target, true)
			logits = torch.Cat(0, f.logits.Detach(), ofTarget)
		})
	}
	torch.NoGrad(func() { f.probabilities = logits.Softmax(1) })
	return f
}

// passDomains passes rows of several domains through the network in training mode, each on its own if they are apart.
func (m *model) passDomains(rows ...torch.Tensor) (features, logits torch.Tensor) {
	if !m.apart && len(rows) > 1 {
		rows = []torch.Tensor{torch.Cat(0, rows...)}
	}
	features, logits = m.network.Forward(rows[0], true)
	for _, of := range rows[1:] {
		moreFeatures, moreLogits := m.network.Forward(of, true)
		features, logits = torch.Cat(0, features, moreFeatures), torch.Cat(0, logits, moreLogits)
	}
	return features, logits
}

func (m *model) state() nets.State { return m.network.State().Prefixed(checkpoint.NetworkPrefix) }

func (m *model) save(s *saving) { s.addAll(m.state()) }

func (m *model) restore(r *restoring) error { return r.takeAll(m.state(), checkpoint.NetworkPrefix) }

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
