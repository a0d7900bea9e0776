package train

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/internal/printable"
)

// data is what a run is trained and measured on. The target's labels serve evaluation
// and the oracles only.
type data struct {
	classNames     []string
	rowShape       []int           // of what the network reads, {channels, height, width} or {size}
	columns        []string        // names of a row's values; nil where they have none
	encoding       table.Encoding  // that made the values; nil where all were numbers
	decimal        string          // the sign before fractions in files of text, if it is known
	origins        []float64       // that were taken off them; nil for none
	source, target datasets.Labels // of the training rows
	test           datasets.Labels // of the target's test rows
	sha256         string          // of all three
	unpublished    []string        // see store.Result
	feed           feed
	onSource       rowReader // the source's training rows, as in evaluation
	onTest         rowReader // the target's test rows
	onHeldOut      rowReader // the source's rows that training does not see; nil for none
	crossed        *crossed  // in their place, of a classifier that is solved for; nil for none
	groups         domainGroups
	normalisation  normalise.Normalisation // of rows of features
	files          io.Closer               // what the rows are read from; nil for nothing
}

// domainGroups are the numbers of the groups of rows that belong together; nil if none are known.
type domainGroups struct {
	source  []int // of all rows that are trained on
	heldOut []int
	test    []int // of the target's test rows
}

// openData reads or draws the data of a run and subsamples what the variant says: the
// source, or the target together with its test set.
func openData(run config.Resolved) (d *data, err error) {
	task, err := domains.Load(run)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, task.Close())
		}
	}()
	var columns []string
	if named, is := task.Source.(datasets.Named); is {
		columns = named.Columns()
	}
	source, target, test, err := domains.SubsampleTask(run, task)
	if err != nil {
		return nil, err
	}
	sha256 := datasets.Fingerprint(source, target, test)
	source, heldOut, err := holdOut(source, run)
	if err != nil {
		return nil, err
	}
	n, err := normalise.Fit(run.Network.Normalisation(), source, target)
	if err != nil {
		return nil, fmt.Errorf("network.normalise is %s: %w", run.Network.Normalise, err)
	}
	groups := domainGroups{source: datasets.GroupsOf(source), test: datasets.GroupsOf(test)}
	source, target, test = n.OnSource(source), n.OnTarget(target), n.OnTarget(test)
	d = &data{
		classNames: source.ClassNames(), rowShape: source.Shape(), columns: columns, encoding: task.Learnt.Encoding, origins: task.Origins(), decimal: task.Decimal(),
		source: datasets.LabelsOf(source), target: datasets.LabelsOf(target), test: datasets.LabelsOf(test),
		sha256: sha256, normalisation: n, groups: groups,
		onSource: inMemory{source}, onTest: inMemory{test},
		files: task, unpublished: domains.Unpublished(run, datasets.Counts(task.Source), datasets.Counts(task.Target), datasets.Counts(task.Test)),
	}
	if heldOut != nil {
		d.groups.heldOut = datasets.GroupsOf(heldOut)
		heldOut = n.OnSource(heldOut)
		d.onHeldOut = inMemory{heldOut}
	}
	for _, set := range []datasets.Set{source, heldOut, target, test} {
		if err := checkSize(set, n, columns); err != nil {
			return nil, err
		}
	}
	const replaced = true
	if err := d.check(run, replaced); err != nil {
		return nil, err
	}
	d.feed = newResampled(source, target, run.Train.Batch, run.Seed)
	return d, nil
}

// checkSize returns an error that names a column of a normalised set, nil for none, whose values
// no network learns from.
func checkSize(set datasets.Set, n normalise.Normalisation, columns []string) error {
	if set == nil {
		return nil
	}
	_, j, value, found := normalise.TooLarge(set)
	if !found {
		return nil
	}
	column := strconv.Itoa(j)
	if columns != nil {
		column = strconv.Quote(columns[j])
	}
	return fmt.Errorf("%s: column %s: a value is %v where the network reads it (normalised: %s), beyond ±%g; if it stands for a missing one, put the column's mean there, or leave out the column",
		set.Name(), column, value, n.Kind, normalise.Largest)
}

// holdOut divides the source into the rows that are trained on and those that are not,
// nil where the run holds none out. A class with a single row cannot be divided.
func holdOut(source datasets.Set, run config.Resolved) (kept, held datasets.Set, err error) {
	share := run.Train.Validation
	if share == 0 {
		return source, nil, nil
	}
	keptRows, heldRows, err := heldOutRows(source.Name(), datasets.LabelsOf(source), datasets.GroupsOf(source), source.ClassNames(), run)
	if err != nil {
		return nil, nil, err
	}
	return datasets.Subset(source, keptRows), datasets.Subset(source, heldRows), nil
}

func heldOutRows(name string, labels datasets.Labels, groups []int, classNames []string, run config.Resolved) (kept, held []int, err error) {
	for class, n := range labels.Counts(len(classNames)) {
		if n == 1 {
			return nil, nil, fmt.Errorf("%s: one row of class %q; with train.validation it takes two, one to learn from and one to hold out", name, classNames[class])
		}
	}
	kept, held = datasets.HoldOutRows(labels, len(classNames), run.Train.Validation, groups, rand.New(datasets.Stream(run.Seed, "validation")))
	if groups != nil {
		of := labels.Subset(held).Counts(len(classNames))
		for class, n := range labels.Counts(len(classNames)) {
			if n > 0 && of[class] == 0 {
				return nil, nil, fmt.Errorf("%s: the rows of class %q are in too few groups: with train.validation it takes a group to learn from and another one to hold out; add groups, or leave group_column out", name, classNames[class])
			}
		}
	}
	return kept, held, nil
}

// check refuses, before the first step, data on which a method is not defined: a set
// without rows, a source without rows of a class, of which neither loss nor weight is
// known, or with rows of no class, and fewer rows than fill a batch. Drawn with
// replacement, they have to fill one in the larger domain, otherwise in each.
func (d *data) check(run config.Resolved, replaced bool) error {
	batch, sources, targets := run.Train.Batch, d.source.Len(), d.target.Len()
	hint := ""
	if len(run.Dataset.ClassFractions) > 0 {
		hint = "; dataset.class_fractions leaves none"
	}
	for _, set := range []struct {
		name string
		rows int
	}{{"source", sources}, {"target", targets}, {"test set", d.test.Len()}} {
		if set.rows == 0 {
			return fmt.Errorf("the %s of %s has no rows%s", set.name, run.Task, hint)
		}
	}
	if unknown := sources - d.source.Known(); unknown > 0 {
		return fmt.Errorf("%d of the %d rows of the source of %s have no label; training needs labels: leave these rows out", unknown, sources, run.Task)
	}
	for class, n := range d.source.Counts(len(d.classNames)) {
		if n == 0 {
			return fmt.Errorf("the source of %s has no row of class %q; class weights need at least one of each", run.Task, d.classNames[class])
		}
	}
	switch {
	case replaced && max(sources, targets) < batch:
		return fmt.Errorf("%s has %d source and %d target rows, less than a batch; train.batch is %d", run.Task, sources, targets, batch)
	case !replaced && sources < batch:
		return fmt.Errorf("the source of %s has %s, less than a batch; train.batch is %d", run.Task, printable.Count(sources, "row"), batch)
	case !replaced && targets < batch:
		return fmt.Errorf("the target of %s has %s, less than a batch; train.batch is %d", run.Task, printable.Count(targets, "row"), batch)
	}
	return nil
}

func (d *data) close() error {
	err := d.feed.close()
	if d.files != nil {
		err = errors.Join(err, d.files.Close())
	}
	return err
}
