package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/nets"
	"iwda/torch"
)

// ErrNothingLearned says that features were asked of a network that has neither
// pretrained weights nor a checkpoint.
var ErrNothingLearned = errors.New("the network has learned nothing yet: name a finished run, whose checkpoint it takes")

// Extract computes the features of all rows of a domain of the run in evaluation mode, with
// all its classes in full, labelled or not, as sets that [datasets.WriteFeatures] writes. With a checkpoint
// of the run they are its network's z, without one a pretrained backbone's output. test
// is nil where the domain has no test set of its own.
func Extract(ctx context.Context, run config.Resolved, checkpoint, domain string, options Options) (train, test *datasets.Features, err error) {
	if options.Log == nil {
		options.Log = io.Discard
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	torchErr := torch.Try(func() {
		torch.SetThreads(options.Threads)
		var rows domainRows
		if rows, err = openRows(run, domain, options); err != nil {
			return
		}
		defer func() { err = errors.Join(err, rows.close()) }()
		var extract extractor
		if extract, err = newExtractor(run, checkpoint, rows.shape, len(rows.classNames), options.Device); err != nil {
			return
		}
		name := run.Dataset.Name + "-" + domain
		if train, err = extract.all(ctx, name, rows.train, rows.classNames, run.Train.EvalBatch, options.Device); err != nil || rows.test == nil {
			return
		}
		test, err = extract.all(ctx, name+"-test", rows.test, rows.classNames, run.Train.EvalBatch, options.Device)
	})
	return train, test, errors.Join(err, torchErr)
}

// domainRows are all rows of a domain, as in evaluation.
type domainRows struct {
	train, test rowReader // test is nil where the domain has none of its own
	classNames  []string
	shape       []int // of a row
	close       func() error
}

func openRows(run config.Resolved, domain string, options Options) (domainRows, error) {
	data, err := run.Dataset.Described()
	if err != nil {
		return domainRows{}, err
	}
	switch data.Kind {
	case catalogue.ImageFiles:
		return openImageRows(run, data, domain, options)
	case catalogue.Vectors:
		return domainRows{}, fmt.Errorf("data set %s holds features already", data.Name)
	}
	train, test, err := data.OpenDomain(domain, sourceOf(run))
	if err != nil {
		return domainRows{}, err
	}
	rows := domainRows{
		train: inMemory{train}, classNames: train.ClassNames(), shape: train.Shape(),
		close: func() error { return nil },
	}
	if test != nil {
		rows.test = inMemory{test}
	}
	return rows, nil
}

// openImageRows opens a domain of image files, of which the run's target has the classes of
// its source.
func openImageRows(run config.Resolved, data catalogue.Dataset, domain string, options Options) (rows domainRows, err error) {
	source, target := run.Domains()
	var sets []*images.Set // the domain's and that of its test set, if it has one of its own
	if domain == target {
		task, err := data.OpenImageTask(run.Dataset.Root, source, target)
		if err != nil {
			return domainRows{}, err
		}
		if sets = []*images.Set{task.Target}; task.Test != task.Target {
			sets = append(sets, task.Test)
		}
	} else {
		set, err := data.OpenImages(run.Dataset.Root, domain)
		if err != nil {
			return domainRows{}, err
		}
		sets = []*images.Set{set}
	}
	var domains []*imageDomain
	rows = domainRows{classNames: sets[0].ClassNames(), shape: cropShape(run)}
	rows.close = func() error {
		var err error
		for _, d := range domains {
			err = errors.Join(err, d.close())
		}
		return err
	}
	for _, set := range sets {
		d, err := openDomain(run, set, nil, options)
		if err != nil {
			return domainRows{}, errors.Join(err, rows.close())
		}
		domains = append(domains, d)
	}
	rows.train = testViews{domains[0], run}
	if len(domains) > 1 {
		rows.test = testViews{domains[1], run}
	}
	return rows, nil
}

// extractor maps a batch to features.
type extractor func(x torch.Tensor) torch.Tensor

func newExtractor(run config.Resolved, checkpoint string, rowShape []int, classes int, device torch.Device) (extractor, error) {
	if checkpoint == "" {
		if n := run.Network; n.File == "" && (n.Pretrained == "" || n.Pretrained == config.NotPretrained) {
			return nil, ErrNothingLearned
		}
		run.Network.Frozen = true
		network, _, err := newNetwork(run, rowShape, classes)
		if err != nil {
			return nil, err
		}
		frozen, ok := network.(*nets.Frozen)
		if !ok {
			return nil, ErrNothingLearned
		}
		network.State().Move(torch.Float32, device)
		return frozen.Pooled, nil
	}
	network, _, err := newNetwork(run, rowShape, classes)
	if err != nil {
		return nil, err
	}
	state := network.State()
	if frozen, ok := network.(*nets.Frozen); ok && run.Network.Views > 0 {
		state = frozen.Head() // all that such a run trained and kept
	}
	if err := loadCheckpoint(state, checkpoint); err != nil {
		return nil, err
	}
	network.State().Move(torch.Float32, device)
	return func(x torch.Tensor) torch.Tensor {
		features, _ := network.Forward(x, false)
		return features
	}, nil
}

// loadCheckpoint loads the network's part of a run's checkpoint.
func loadCheckpoint(state nets.State, path string) (err error) {
	torch.Tidy(func() {
		var file checkpoint.File
		if file, err = checkpoint.Read(path); err != nil {
			return
		}
		var tensors map[string]torch.Tensor
		if tensors, _, err = torch.ParseTensors(file.Content); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
			return
		}
		values := make(map[string]torch.Tensor)
		for name, tensor := range tensors {
			if of, ok := strings.CutPrefix(name, checkpoint.NetworkPrefix+"."); ok {
				values[of] = tensor
			}
		}
		if err = state.Load(values); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	})
	return err
}

func (e extractor) all(ctx context.Context, name string, reader rowReader, classNames []string, batch int, device torch.Device) (*datasets.Features, error) {
	var features []float32
	var labels datasets.Labels
	for b, err := range reader.batches(ctx, batch) {
		if err != nil {
			return nil, err
		}
		features = e.append(features, b, device)
		for i := range b.len() {
			labels.Add(b.labels.At(i))
		}
	}
	return datasets.NewFeatures(name, features, labels, classNames)
}

// append appends the features of the rows.
func (e extractor) append(features []float32, b rowBatch, device torch.Device) []float32 {
	torch.Tidy(func() {
		torch.NoGrad(func() { features = append(features, torch.ToSlice[float32](e(b.tensor(device)))...) })
	})
	return features
}
