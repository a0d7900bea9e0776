package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/network"
	"iwda/internal/input"
	"iwda/nets"
	"iwda/torch"
)

// ErrNothingLearned says that features were asked of a network that has neither
// pretrained weights nor a checkpoint.
var ErrNothingLearned = input.Wrong(errors.New("the network has learned nothing yet: name a finished run with --run, whose checkpoint it takes"))

// Extract computes the features of all rows of a domain of the run in evaluation mode, with
// all its classes in full, labelled or not, as sets that [datasets.WriteFeatures] writes. With a
// checkpoint of the run they are its network's z, without one a pretrained backbone's output.
// Rows of image files have ids, the paths below the domain's folder. test is nil where the domain has no test set of its own.
func Extract(ctx context.Context, run config.Resolved, checkpoint, domain string, options Options) (train, test *datasets.Features, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	torchErr := torch.Try(func() {
		torch.SetThreads(cmp.Or(options.Threads, 1))
		var rows domainRows
		if rows, err = openRows(run, domain, options); err != nil {
			return
		}
		defer func() { err = errors.Join(err, rows.opened.Close()) }()
		e := evaluator{nil, run.Train.EvalBatch, options.Device, options.alive}
		if e.forward, err = newExtractor(run, checkpoint, rows.shape, len(rows.classNames), options.Device); err != nil {
			return
		}
		name := run.Dataset.Name + "-" + domain
		if train, err = e.featuresWithIDs(ctx, name, rows.train, rows.classNames); err != nil || rows.test == nil {
			return
		}
		test, err = e.featuresWithIDs(ctx, name+"-test", rows.test, rows.classNames)
	})
	return train, test, errors.Join(err, torchErr)
}

// featuresWithIDs returns what features does; images have their ids.
func (e evaluator) featuresWithIDs(ctx context.Context, name string, rows rowReader, classNames []string) (*datasets.Features, error) {
	features, err := e.features(ctx, name, rows, classNames)
	domain, ofImages := rows.(*imageDomain)
	if err != nil || !ofImages {
		return features, err
	}
	ids := make([]string, features.Len())
	for i := range ids {
		ids[i] = domain.reader.Set().ID(i) // no fraction of a class was drawn
	}
	return features.WithIDs(ids), nil
}

// domainRows are all rows of a domain, as in evaluation.
type domainRows struct {
	train, test rowReader // test is nil where the domain has none of its own
	classNames  []string
	shape       []int // of a row
	opened      openDomains
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
	train, test, err := data.OpenDomain(domain, domains.SourceOf(run))
	if err != nil {
		return domainRows{}, err
	}
	rows := domainRows{train: inMemory{train}, classNames: train.ClassNames(), shape: train.Shape()}
	if test != nil {
		rows.test = inMemory{test}
	}
	return rows, nil
}

// openImageRows opens a domain of image files, of which the run's target has the classes of
// its source.
func openImageRows(run config.Resolved, data catalogue.Dataset, domain string, options Options) (rows domainRows, err error) {
	var sets catalogue.ImageTask
	if sources, target := run.Domains(); domain == target {
		sets, err = data.OpenImageTask(run.Dataset.Root, sources[0], target)
	} else {
		sets.Target, err = data.OpenImages(run.Dataset.Root, domain)
		sets.Test = sets.Target
	}
	if err != nil {
		return domainRows{}, err
	}
	rows = domainRows{classNames: sets.Target.ClassNames(), shape: cropShape(run)}
	open := func(set *images.Set) rowReader {
		d, openErr := rows.opened.open(run, set, nil, options)
		err = errors.Join(err, openErr)
		return d
	}
	if rows.train = open(sets.Target); sets.Test != sets.Target {
		rows.test = open(sets.Test)
	}
	if err != nil {
		return domainRows{}, errors.Join(err, rows.opened.Close())
	}
	return rows, nil
}

// newExtractor returns what maps rows to features.
func newExtractor(run config.Resolved, checkpoint string, rowShape []int, classes int, device torch.Device) (func(rows torch.Tensor) torch.Tensor, error) {
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
	weights, err := savedmodel.ReadCheckpoint(path)
	if err != nil {
		return err
	}
	torch.Tidy(func() {
		if err = network.Load(state, weights); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	})
	return err
}
