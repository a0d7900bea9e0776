package train

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"iwda/datasets"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/nets"
)

// openImages opens the image files of a run. With a frozen backbone, what is evaluated
// are the backbone's features, computed here once, and so is what is trained on where
// the configuration asks for a number of views.
func openImages(ctx context.Context, run config.Resolved, network nets.Network, options Options) (d *data, err error) {
	sets, err := domains.FindImages(run)
	if err != nil {
		return nil, err
	}
	var opened openDomains
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	source, target, test, err := opened.task(run, sets, options)
	if err != nil {
		return nil, err
	}
	d = &data{onTest: test, About: domains.About{
		Classes: sets.Source.ClassNames(), Shape: cropShape(run),
		Unpublished: domains.Unpublished(run, sets.Source.PartLabels(), sets.Target.Counts(), nil),
	}}
	if run.Train.Validation > 0 {
		kept, held, err := source.holdOut()
		if err != nil {
			return nil, err
		}
		source, d.onHeldOut = kept, held
	}
	d.Parts = domains.PartsOf(run, source.parts())
	d.onSource, d.Labels = source, domains.Labels{Source: source.labels, Target: target.labels, Test: test.labels}
	const replaced = false
	if err := cmp.Or(d.Check(run), d.CheckBatch(run, replaced)); err != nil {
		return nil, err
	}
	if d.SHA256, err = domains.Fingerprint(sets, options.alive); err != nil {
		return nil, err
	}
	sources := []*imageDomain{source}
	for i, part := range d.Parts {
		sources = append(sources[:i], source.part(part.Rows))
	}
	if frozen, is := network.(*nets.Frozen); is {
		pooled := evaluator{frozen.Pooled, run.Train.EvalBatch, options.Device, options.alive}
		if err := d.evaluatePooled(ctx, pooled); err != nil {
			return nil, err
		}
		if run.Network.Views > 0 {
			pooled.batchSize = run.Train.Batch
			if err := d.feedPooled(ctx, pooled, sources, target); err != nil {
				return nil, err
			}
			return d, opened.Close()
		}
	}
	d.files = opened
	d.feed, err = newLoaded(sources, target)
	return d, err
}

// evaluatePooled computes the backbone's features of all rows that are evaluated, which take the
// place of the images.
func (d *data) evaluatePooled(ctx context.Context, pooled evaluator) error {
	for _, r := range []*rowReader{&d.onSource, &d.onTest, &d.onHeldOut} {
		if *r == nil {
			continue
		}
		set, err := pooled.features(ctx, "features", *r, d.Classes)
		if err != nil {
			return err
		}
		*r = inMemory{set}
	}
	return nil
}

// feedPooled computes the backbone's features of views of all domains, which the run is fed with.
func (d *data) feedPooled(ctx context.Context, pooled evaluator, sources []*imageDomain, target *imageDomain) error {
	var onSources []datasets.Set
	for i, source := range sources {
		onSource, err := pooled.features(ctx, "source", trainingViews{source, purposeOf(i)}, d.Classes)
		if err != nil {
			return err
		}
		onSources = append(onSources, onSource)
	}
	onTarget, err := pooled.features(ctx, "target", trainingViews{target, "target"}, d.Classes)
	if err != nil {
		return err
	}
	d.Shape = onTarget.Shape()
	d.feed = newShuffled(onSources, onTarget, target.run.Network.Views, target.run.Train.Batch, target.run.Seed)
	return nil
}

// trainingViews reads augmented views of every image of a domain, all first views, then all
// second ones.
type trainingViews struct {
	*imageDomain
	purpose string // of what is random
}

func (v trainingViews) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	return func(yield func(rowBatch, error) bool) {
		all := v.run.Network.Views * v.labels.Len()
		size = datasets.BatchRows(size, all, cropShape(v.run))
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
