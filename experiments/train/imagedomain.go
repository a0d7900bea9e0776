package train

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
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

// openDomain opens a domain and keeps the fractions of its classes, all where there are
// none.
func openDomain(run config.Resolved, set *images.Set, fractions []float64, options Options) (d *imageDomain, err error) {
	readerOptions := images.ReaderOptions{Side: run.Dataset.Resize, Cache: run.Dataset.Cache, Alive: options.alive}
	if readerOptions.Cache == images.FileCache {
		folder, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("dataset.cache is %s: %w", run.Dataset.Cache, err)
		}
		readerOptions.Folder = filepath.Join(folder, "iwda")
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
		options.logf("%s: %d images, cached in %s, %d MiB in all", set.Name(), set.Len(), run.Dataset.Cache, size>>20)
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

func (d *imageDomain) views(run config.Resolved) images.ViewOptions {
	return images.ViewOptions{Rows: d.rows, BatchSize: run.Train.Batch, Crop: run.Dataset.Crop, Bytes: d.bytes, Workers: run.Dataset.Workers}
}

// imageDomains are the domains of a task of image files.
type imageDomains struct {
	source, target *imageDomain
	test           *imageDomain // the target where that is its own test set
	heldOut        *imageDomain // rows of the source, with its reader; nil where none are held out
	opened         openDomains
}

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

// open opens a domain, see openDomain, and keeps it.
func (o *openDomains) open(run config.Resolved, set *images.Set, fractions []float64, options Options) (*imageDomain, error) {
	d, err := openDomain(run, set, fractions, options)
	if err == nil {
		*o = append(*o, d)
	}
	return d, err
}

// openTask opens the domains of a run's task.
func openTask(run config.Resolved, sets catalogue.ImageTask, options Options) (d imageDomains, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, d.opened.Close())
		}
	}()
	onSource, onTarget := classFractions(run, len(sets.Source.ClassNames()))
	if d.source, err = d.opened.open(run, sets.Source, onSource, options); err != nil {
		return d, err
	}
	if d.target, err = d.opened.open(run, sets.Target, onTarget, options); err != nil {
		return d, err
	}
	d.test = d.target
	if sets.Test != sets.Target {
		if d.test, err = d.opened.open(run, sets.Test, onTarget, options); err != nil {
			return d, err
		}
	}
	if run.Train.Validation > 0 {
		d.heldOut, err = d.source.holdOut(run)
	}
	return d, err
}

// loaders returns the feed of augmented images that are read while the run trains.
func (d imageDomains) loaders(run config.Resolved) (*loaded, error) {
	l := &loaded{crop: run.Dataset.Crop, sourceLabels: d.source.reader.Set().Labels()}
	var err error
	if l.source, err = images.NewLoader(d.source.reader, images.LoaderOptions{ViewOptions: d.source.views(run), Seed: run.Seed, Purpose: "source"}); err != nil {
		return nil, err
	}
	l.target, err = images.NewLoader(d.target.reader, images.LoaderOptions{ViewOptions: d.target.views(run), Seed: run.Seed, Purpose: "target"})
	return l, err
}
