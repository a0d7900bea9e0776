package train

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/internal/convert"
	"iwda/internal/evenly"
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
	if d.SHA256, err = domains.Fingerprint(sets); err != nil {
		return nil, err
	}
	sources := []*imageDomain{source}
	for i, part := range d.Parts {
		sources = append(sources[:i], source.part(part.Rows))
	}
	if frozen, is := network.(*nets.Frozen); is {
		pooled := evaluator{frozen.Pooled, run.Train.EvalBatch, options.Device}
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

// imageDomain is a domain of image files: its reader and the rows of the set that a
// run uses.
type imageDomain struct {
	run    config.Resolved
	reader *images.Reader
	rows   []int
	labels datasets.Labels // of the rows
	bytes  bool            // of its images go to the device, which normalises them
}

// cropShape is the shape of an image as networks take it.
func cropShape(run config.Resolved) []int { return []int{3, run.Dataset.Crop, run.Dataset.Crop} }

// openDomains are domains that have a reader of their own.
type openDomains []*imageDomain

// Close gives the memory of the domains' caches back.
func (o openDomains) Close() error {
	return errors.Join(convert.Each(o, func(domain *imageDomain) error { return domain.reader.Close() })...)
}

// open opens one more domain and keeps the fractions of its classes, all where there are
// none.
func (o *openDomains) open(run config.Resolved, set *images.Set, fractions []float64, options Options) (d *imageDomain, err error) {
	d = &imageDomain{run: run, labels: set.Labels(), bytes: options.asBytes || options.Device.IsCUDA()}
	if fractions != nil {
		labels, classes := domains.ByPart(run, d.labels, set.Parts(), set.ClassNames())
		fractions = slices.Repeat(fractions, len(classes)/len(fractions))
		if d.rows, err = datasets.SubsampleRows(labels, fractions, rand.New(datasets.Stream(run.Seed, "subsample"))); err != nil {
			return nil, err
		}
		d.labels = d.labels.Subset(d.rows)
	}
	if d.reader, err = images.NewReader(set, images.ReaderOptions{Side: run.Dataset.Resize, Keep: run.Dataset.Cache != config.NoCache}); err != nil {
		return nil, err
	}
	*o = append(*o, d)
	return d, nil
}

// holdOut divides the domain into the rows that are trained on and those that are not, which
// have the same reader.
func (d *imageDomain) holdOut() (kept, held *imageDomain, err error) {
	set := d.reader.Set()
	keptRows, heldRows, err := domains.HoldOut(set.Name(), d.labels, nil, d.parts(), set.ClassNames(), d.run)
	if err != nil {
		return nil, nil, err
	}
	return d.part(keptRows), d.part(heldRows), nil
}

// part is the domain of these of its rows alone, with the same reader.
func (d *imageDomain) part(numbers []int) *imageDomain {
	of := *d
	of.rows, of.labels = slices.Clone(numbers), d.labels.Subset(numbers)
	if d.rows != nil {
		of.rows = evenly.Pick(d.rows, numbers)
	}
	return &of
}

// parts are the numbers of the sources that the rows are from; nil where there is one.
func (d *imageDomain) parts() []int {
	of := d.reader.Set().Parts()
	if of == nil || d.rows == nil {
		return of
	}
	return evenly.Pick(of, d.rows)
}

// views are the options for some so many images at a time.
func (d *imageDomain) views(batch int) images.ViewOptions {
	of := d.run.Dataset
	return images.ViewOptions{Rows: d.rows, BatchSize: batch, Crop: of.Crop, Central: of.RandomCrop == config.Off, Unmirrored: of.Mirror == config.Off,
		Bytes: d.bytes, Workers: of.Workers}
}

// batches reads the domain's images in order, as in evaluation.
func (d *imageDomain) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	return func(yield func(rowBatch, error) bool) {
		for b, err := range d.reader.Batches(ctx, d.views(datasets.BatchRows(size, d.labels.Len(), cropShape(d.run)))) {
			var rows rowBatch
			if err == nil {
				rows = rowBatch{valuesOf(b), cropShape(d.run), d.reader.Set().Labels().Subset(b.Rows)}
			}
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// task opens the source, the target and the target's test set of a run, which may be the target.
func (o *openDomains) task(run config.Resolved, sets catalogue.ImageTask, options Options) (source, target, test *imageDomain, err error) {
	onSource, onTarget := domains.ClassFractions(run, len(sets.Source.ClassNames()))
	if source, err = o.open(run, sets.Source, onSource, options); err != nil {
		return nil, nil, nil, err
	}
	if target, err = o.open(run, sets.Target, onTarget, options); err != nil || sets.Test == sets.Target {
		return source, target, target, err
	}
	test, err = o.open(run, sets.Test, onTarget, options)
	return source, target, test, err
}
