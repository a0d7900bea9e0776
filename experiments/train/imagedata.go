package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/nets"
)

// imageDomain is a domain of image files: its reader and the rows of the set that a
// run uses.
type imageDomain struct {
	reader *images.Reader
	rows   []int
	labels datasets.Labels // of the rows
	bytes  bool            // of its images go to the device, which normalises them
}

// cropShape is the shape of an image as networks take it.
func cropShape(run config.Resolved) []int { return []int{3, run.Dataset.Crop, run.Dataset.Crop} }

// findImages finds the image files of a run.
func findImages(run config.Resolved) (catalogue.ImageTask, error) {
	data, err := run.Dataset.Described()
	if err != nil {
		return catalogue.ImageTask{}, err
	}
	from, to := run.Domains()
	return data.OpenImageTask(run.Dataset.Root, from, to)
}

// openDomain opens a domain and keeps the fractions of its classes, all where there are
// none.
func openDomain(run config.Resolved, set *images.Set, fractions []float64, options Options) (d *imageDomain, err error) {
	readerOptions := images.ReaderOptions{Side: run.Dataset.Resize, Alive: options.alive}
	if readerOptions.Cache, err = images.ParseCacheKind(run.Dataset.Cache); err != nil {
		return nil, err
	}
	if readerOptions.Cache == images.FileCache {
		if readerOptions.Folder, err = cacheFolder(); err != nil {
			return nil, fmt.Errorf("dataset.cache is %s: %w", run.Dataset.Cache, err)
		}
	}
	d = &imageDomain{labels: set.Labels(), bytes: options.asBytes || options.Device.IsCUDA()}
	if fractions != nil {
		if d.rows, err = datasets.SubsampleRows(d.labels, fractions, rand.New(datasets.Stream(run.Seed, "subsample"))); err != nil {
			return nil, err
		}
		d.labels = d.labels.Subset(d.rows)
	}
	if d.reader, err = images.NewReader(set, readerOptions); err != nil {
		return nil, err
	}
	if size := d.reader.CacheBytes(); size > 0 {
		fmt.Fprintf(options.Log, "%s: %d images, cached in %s, %d MiB in all\n", set.Name(), set.Len(), run.Dataset.Cache, size>>20)
	}
	return d, nil
}

// holdOut takes rows away from the domain and returns a domain of these, which has the
// same reader.
func (d *imageDomain) holdOut(run config.Resolved) (*imageDomain, error) {
	set := d.reader.Set()
	kept, held, err := heldOutRows(set.Name(), d.labels, set.ClassNames(), run)
	if err != nil {
		return nil, err
	}
	labels, rows := d.labels, d.rows
	part := func(numbers []int) ([]int, datasets.Labels) {
		of := slices.Clone(numbers)
		for i, n := range numbers {
			if rows != nil {
				of[i] = rows[n]
			}
		}
		return of, labels.Subset(numbers)
	}
	heldOut := &imageDomain{reader: d.reader, bytes: d.bytes}
	heldOut.rows, heldOut.labels = part(held)
	d.rows, d.labels = part(kept)
	return heldOut, nil
}

// close gives the memory of the domain's cache back; a domain that was not opened has
// none.
func (d *imageDomain) close() error {
	if d == nil {
		return nil
	}
	return d.reader.Close()
}

func (d *imageDomain) views(run config.Resolved) images.ViewOptions {
	return images.ViewOptions{Rows: d.rows, BatchSize: run.Train.Batch, Crop: run.Dataset.Crop, Bytes: d.bytes, Workers: run.Dataset.Workers}
}

// openImages opens the image files of a run. With a frozen backbone, what is evaluated
// are the backbone's features, computed here once, and so is what is trained on where
// the configuration asks for a number of views.
func openImages(ctx context.Context, run config.Resolved, network nets.Network, options Options) (d *data, err error) {
	sets, err := findImages(run)
	if err != nil {
		return nil, err
	}
	var source, target, ofTest *imageDomain // ofTest is nil where the target is its own test set
	defer func() {
		if err != nil {
			err = errors.Join(err, source.close(), target.close(), ofTest.close())
		}
	}()
	onSource, onTarget := classFractions(run, len(sets.Source.ClassNames()))
	if source, err = openDomain(run, sets.Source, onSource, options); err != nil {
		return nil, err
	}
	if target, err = openDomain(run, sets.Target, onTarget, options); err != nil {
		return nil, err
	}
	domains, test := []*imageDomain{source, target}, target
	if sets.Test != sets.Target {
		if ofTest, err = openDomain(run, sets.Test, onTarget, options); err != nil {
			return nil, err
		}
		domains, test = append(domains, ofTest), ofTest
	}
	var heldOut *imageDomain
	if run.Train.Validation > 0 {
		if heldOut, err = source.holdOut(run); err != nil {
			return nil, err
		}
	}
	d = &data{
		classNames: source.reader.Set().ClassNames(), rowShape: cropShape(run),
		source: source.labels, target: target.labels,
		onSource: lively{testViews{source, run}, options.alive}, onTest: lively{testViews{test, run}, options.alive},
		testLabelled: test.labels.Known() > 0, tests: test.labels.Len(),
	}
	if heldOut != nil {
		d.onHeldOut, d.onTarget = lively{testViews{heldOut, run}, options.alive}, lively{testViews{target, run}, options.alive}
	}
	const replaced = false
	if err := d.check(run, test.labels.Len(), replaced); err != nil {
		return nil, err
	}
	if d.sha256, err = fingerprint(options.alive, imageSets(sets)...); err != nil {
		return nil, err
	}
	frozen, isFrozen := network.(*nets.Frozen)
	if isFrozen {
		for _, r := range []*rowReader{&d.onSource, &d.onTest, &d.onHeldOut, &d.onTarget} {
			if *r == nil {
				continue
			}
			set, err := extractor(frozen.Pooled).all(ctx, "features", *r, d.classNames, run.Train.EvalBatch, options.Device)
			if err != nil {
				return nil, err
			}
			*r = lively{inMemory{set}, options.alive}
		}
	}
	if isFrozen && run.Network.Views > 0 {
		onSource, err := pooledViews(ctx, frozen, source, run, "source", options)
		if err != nil {
			return nil, err
		}
		onTarget, err := pooledViews(ctx, frozen, target, run, "target", options)
		if err != nil {
			return nil, err
		}
		d.rowShape = onSource.Shape()
		d.feed = newShuffled(onSource, onTarget, run.Network.Views, run.Train.Batch, run.Seed)
		return d, errors.Join(source.close(), target.close(), ofTest.close())
	}
	l := &loaded{crop: run.Dataset.Crop, sourceLabels: source.reader.Set().Labels(), domains: domains}
	if l.source, err = images.NewLoader(source.reader, images.LoaderOptions{ViewOptions: source.views(run), Seed: run.Seed, Purpose: "source"}); err != nil {
		return nil, err
	}
	if l.target, err = images.NewLoader(target.reader, images.LoaderOptions{ViewOptions: target.views(run), Seed: run.Seed, Purpose: "target"}); err != nil {
		return nil, err
	}
	d.feed = l
	return d, nil
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
