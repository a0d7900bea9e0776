package train

import (
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
	"iwda/internal/evenly"
)

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
	var errs []error
	for _, domain := range o {
		errs = append(errs, domain.reader.Close())
	}
	return errors.Join(errs...)
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
	if d.reader, err = domains.OpenReader(run, set, options.alive, options.logf); err != nil {
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

// loader returns batches of augmented images, as training sees them.
func (d *imageDomain) loader(purpose string) (*images.Loader, error) {
	return images.NewLoader(d.reader, images.LoaderOptions{ViewOptions: d.views(d.run.Train.Batch), Seed: d.run.Seed, Purpose: purpose})
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
