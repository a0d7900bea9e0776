package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/nets"
)

// findImages finds the image files of a run.
func findImages(run config.Resolved) (catalogue.ImageTask, error) {
	data, err := run.Dataset.Described()
	if err != nil {
		return catalogue.ImageTask{}, err
	}
	from, to := run.Domains()
	return data.OpenImageTask(run.Dataset.Root, from, to)
}

// openImages opens the image files of a run. With a frozen backbone, what is evaluated
// are the backbone's features, computed here once, and so is what is trained on where
// the configuration asks for a number of views.
func openImages(ctx context.Context, run config.Resolved, network nets.Network, options Options) (d *data, err error) {
	sets, err := findImages(run)
	if err != nil {
		return nil, err
	}
	domains, err := openDomains(run, sets, options)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, domains.close())
		}
	}()
	d = imageData(domains, run, options)
	const replaced = false
	if err := d.check(run, domains.test.labels.Len(), replaced); err != nil {
		return nil, err
	}
	if d.sha256, err = fingerprint(options.alive, imageSets(sets)...); err != nil {
		return nil, err
	}
	if frozen, is := network.(*nets.Frozen); is {
		if err := d.evaluatePooled(ctx, frozen, run, options); err != nil {
			return nil, err
		}
		if run.Network.Views > 0 {
			if err := d.feedPooled(ctx, frozen, domains, run, options); err != nil {
				return nil, err
			}
			return d, domains.close()
		}
	}
	d.feed, err = domains.loaders(run)
	return d, err
}

// imageData returns the data of a run but for what it is fed with.
func imageData(domains imageDomains, run config.Resolved, options Options) *data {
	rows := func(domain *imageDomain) rowReader { return lively{testViews{domain, run}, options.alive} }
	source, test := domains.source, domains.test
	d := &data{
		classNames: source.reader.Set().ClassNames(), rowShape: cropShape(run),
		source: source.labels, target: domains.target.labels,
		onSource: rows(source), onTest: rows(test),
		testLabelled: test.labels.Known() > 0, tests: test.labels.Len(),
	}
	if domains.heldOut != nil {
		d.onHeldOut, d.onTarget = rows(domains.heldOut), rows(domains.target)
	}
	return d
}

// evaluatePooled computes the backbone's features of all rows that are evaluated, which take the
// place of the images.
func (d *data) evaluatePooled(ctx context.Context, network *nets.Frozen, run config.Resolved, options Options) error {
	for _, r := range []*rowReader{&d.onSource, &d.onTest, &d.onHeldOut, &d.onTarget} {
		if *r == nil {
			continue
		}
		set, err := extractor(network.Pooled).all(ctx, "features", *r, d.classNames, run.Train.EvalBatch, options.Device)
		if err != nil {
			return err
		}
		*r = lively{inMemory{set}, options.alive}
	}
	return nil
}

// feedPooled computes the backbone's features of views of both domains, which the run is fed with.
func (d *data) feedPooled(ctx context.Context, network *nets.Frozen, domains imageDomains, run config.Resolved, options Options) error {
	onSource, err := pooledViews(ctx, network, domains.source, run, "source", options)
	if err != nil {
		return err
	}
	onTarget, err := pooledViews(ctx, network, domains.target, run, "target", options)
	if err != nil {
		return err
	}
	d.rowShape = onSource.Shape()
	d.feed = newShuffled(onSource, onTarget, run.Network.Views, run.Train.Batch, run.Seed)
	return nil
}

// imageSets are the different sets of a task.
func imageSets(task catalogue.ImageTask) []*images.Set {
	sets := []*images.Set{task.Source, task.Target}
	if task.Test != task.Target {
		sets = append(sets, task.Test)
	}
	return sets
}

// fingerprint identifies the image files of the sets.
func fingerprint(alive func(), sets ...*images.Set) (string, error) {
	sum := sha256.New()
	for _, set := range sets {
		of, err := set.Fingerprint(alive)
		if err != nil {
			return "", err
		}
		io.WriteString(sum, of)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// testViews reads a domain's images in order, as in evaluation.
type testViews struct {
	domain *imageDomain
	run    config.Resolved
}

func (v testViews) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	return func(yield func(rowBatch, error) bool) {
		options := v.domain.views(v.run)
		options.BatchSize = size
		for b, err := range v.domain.reader.Batches(ctx, options) {
			if err != nil {
				yield(rowBatch{}, err)
				return
			}
			if !yield(rowBatch{valuesOf(b), cropShape(v.run), v.domain.reader.Set().Labels().Subset(b.Rows)}, nil) {
				return
			}
		}
	}
}

// pooledViews computes the backbone's features of augmented views of every image of a
// domain, all first views, then all second ones.
func pooledViews(ctx context.Context, network *nets.Frozen, domain *imageDomain, run config.Resolved, purpose string, options Options) (*datasets.Features, error) {
	loaderOptions := images.LoaderOptions{ViewOptions: domain.views(run), Seed: run.Seed, Purpose: purpose}
	// Batches of one image leave none out at the end of a pass.
	loaderOptions.BatchSize, loaderOptions.Ahead = 1, 2*run.Train.Batch
	loader, err := images.NewLoader(domain.reader, loaderOptions)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	n, shape := domain.labels.Len(), cropShape(run)
	var features []float32
	var pending rowValues
	var labels datasets.Labels
	for i := range run.Network.Views * n {
		b, err := loader.Next(ctx)
		if err != nil {
			return nil, err
		}
		pending.floats, pending.bytes = append(pending.floats, b.Values...), append(pending.bytes, b.Bytes...)
		labels.Add(domain.reader.Set().Labels().At(b.Rows[0]))
		loader.Release(b)
		if waiting := pending.len() / datasets.Size(shape); waiting == run.Train.Batch || i+1 == run.Network.Views*n {
			features = extractor(network.Pooled).append(features, rowBatch{values: pending, shape: shape}, options.Device)
			pending.floats, pending.bytes = pending.floats[:0], pending.bytes[:0]
			options.alive()
		}
	}
	return datasets.NewFeatures(purpose, features, labels, domain.reader.Set().ClassNames())
}
