package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"

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
	domains, err := openTask(run, sets, options)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, domains.opened.Close())
		}
	}()
	d = imageData(domains, run)
	const replaced = false
	if err := d.check(run, replaced); err != nil {
		return nil, err
	}
	if d.sha256, err = fingerprint(options.alive, imageSets(sets)...); err != nil {
		return nil, err
	}
	if frozen, is := network.(*nets.Frozen); is {
		pooled := evaluator{frozen.Pooled, run.Train.EvalBatch, options.Device, options.alive}
		if err := d.evaluatePooled(ctx, pooled); err != nil {
			return nil, err
		}
		if run.Network.Views > 0 {
			pooled.batchSize = run.Train.Batch
			if err := d.feedPooled(ctx, pooled, domains, run); err != nil {
				return nil, err
			}
			return d, domains.opened.Close()
		}
	}
	d.files = domains.opened
	d.feed, err = domains.loaders()
	return d, err
}

// imageData returns the data of a run but for what it is fed with.
func imageData(domains imageDomains, run config.Resolved) *data {
	source, test := domains.source, domains.test
	d := &data{
		classNames: source.reader.Set().ClassNames(), rowShape: cropShape(run),
		source: source.labels, target: domains.target.labels, test: test.labels,
		onSource: source, onTest: test,
	}
	if domains.heldOut != nil {
		d.onHeldOut, d.onTarget = domains.heldOut, domains.target
	}
	return d
}

// evaluatePooled computes the backbone's features of all rows that are evaluated, which take the
// place of the images.
func (d *data) evaluatePooled(ctx context.Context, pooled evaluator) error {
	for _, r := range []*rowReader{&d.onSource, &d.onTest, &d.onHeldOut, &d.onTarget} {
		if *r == nil {
			continue
		}
		set, err := pooled.features(ctx, "features", *r, d.classNames)
		if err != nil {
			return err
		}
		*r = inMemory{set}
	}
	return nil
}

// feedPooled computes the backbone's features of views of both domains, which the run is fed with.
func (d *data) feedPooled(ctx context.Context, pooled evaluator, domains imageDomains, run config.Resolved) error {
	onSource, err := pooled.features(ctx, "source", trainingViews{domains.source, "source"}, d.classNames)
	if err != nil {
		return err
	}
	onTarget, err := pooled.features(ctx, "target", trainingViews{domains.target, "target"}, d.classNames)
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

// trainingViews reads augmented views of every image of a domain, all first views, then all
// second ones.
type trainingViews struct {
	*imageDomain
	purpose string // of what is random
}

func (v trainingViews) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	return func(yield func(rowBatch, error) bool) {
		// Batches of one image leave none out at the end of a pass.
		options := images.LoaderOptions{ViewOptions: v.views(1), Seed: v.run.Seed, Purpose: v.purpose}
		options.Ahead = 2 * size
		loader, err := images.NewLoader(v.reader, options)
		if err != nil {
			yield(rowBatch{}, err)
			return
		}
		defer loader.Close()
		of := v.reader.Set().Labels()
		pending := rowBatch{shape: cropShape(v.run)}
		all := v.run.Network.Views * v.labels.Len()
		for i := range all {
			b, err := loader.Next(ctx)
			if err != nil {
				yield(rowBatch{}, err)
				return
			}
			pending.values.floats = append(pending.values.floats, b.Values...)
			pending.values.bytes = append(pending.values.bytes, b.Bytes...)
			pending.labels.Add(of.At(b.Rows[0]))
			loader.Release(b)
			if pending.len() < size && i+1 < all {
				continue
			}
			if !yield(pending, nil) {
				return
			}
			pending = rowBatch{values: rowValues{pending.values.floats[:0], pending.values.bytes[:0]}, shape: pending.shape}
		}
	}
}
