package domains

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/internal/printable"
)

// About is what is known of the data of a run, whatever holds their rows. The target's labels serve
// evaluation and the oracles only.
type About struct {
	Classes     []string       // in label order
	Shape       []int          // of a row as the network reads it, {channels, height, width} or {size}
	Columns     []string       // names of a row's values; nil where they have none
	Encoding    table.Encoding // that made the values; nil where all were numbers
	Decimal     string         // the sign before fractions in files of text, if it is known
	Origins     []float64      // that were taken off them; nil for none
	Labels      Labels
	Parts       []Part   // the sources of a run with several that do not count as one; nil of others
	SHA256      string   // of all three
	Unpublished []string // see store.Result
	Groups      Groups
	// Normalisation is that of rows of features.
	Normalisation normalise.Normalisation
}

// Labels are those of the rows that are trained on, and of the target's test rows.
type Labels struct{ Source, Target, Test datasets.Labels }

// Groups are the numbers of the groups of rows that belong together; nil if none are known.
type Groups struct {
	Source  []int // of all rows that are trained on
	HeldOut []int
	Test    []int // of the target's test rows
}

// Rows are the data of a run in memory, normalised.
type Rows struct {
	About
	Source, Target, Test datasets.Set
	HeldOut              datasets.Set // of the source, which training does not see; nil for none
	io.Closer                         // what the rows are read from
}

// Open reads or draws the data of a run and subsamples what the variant says: the source, or the target
// together with its test set. If it is asked to, it holds rows of the source out, as many as the configuration says;
// if not, the source can be held out in folds, or the error says why not.
func Open(run config.Resolved, holdOut bool) (r *Rows, err error) {
	task, err := Load(run)
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
	source, target, test, err := SubsampleTask(run, task)
	if err != nil {
		return nil, err
	}
	r = &Rows{Closer: task, About: About{
		Classes: source.ClassNames(), Shape: source.Shape(), Columns: columns, Encoding: task.Learnt.Encoding, Origins: task.Origins(), Decimal: task.Decimal(),
		SHA256:      datasets.Fingerprint(source, target, test),
		Unpublished: unpublished(run, task),
	}}
	var heldOut datasets.Set
	if run.Train.Validation > 0 {
		kept, held, err := HoldOut(source.Name(), datasets.LabelsOf(source), datasets.GroupsOf(source), datasets.PartsOf(source), r.Classes, run)
		if err != nil {
			return nil, err
		}
		if holdOut {
			source, heldOut = datasets.Subset(source, kept), datasets.Subset(source, held)
			r.Groups.HeldOut = datasets.GroupsOf(heldOut)
		}
	}
	of := run.Network
	n, err := normalise.Fit(normalise.Settings{Way: of.Normalise, Clip: of.Clip, Within: of.Within}, source, target)
	if err != nil {
		return nil, fmt.Errorf("network.normalise is %s: %w", of.Normalise, err)
	}
	r.Groups.Source, r.Groups.Test, r.Normalisation = datasets.GroupsOf(source), datasets.GroupsOf(test), n
	r.Parts = PartsOf(run, datasets.PartsOf(source))
	r.Labels = Labels{datasets.LabelsOf(source), datasets.LabelsOf(target), datasets.LabelsOf(test)}
	r.Source, r.Target, r.Test = n.OnSource(source), n.OnTarget(target), n.OnTarget(test)
	if heldOut != nil {
		r.HeldOut = n.OnSource(heldOut)
	}
	for _, set := range []datasets.Set{r.Source, r.HeldOut, r.Target, r.Test} {
		if err := checkSize(set, n, columns); err != nil {
			return nil, err
		}
	}
	return r, r.Check(run)
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

// HoldOut divides the rows of a source into those that are trained on and those that are not, each source of several
// that do not count as one, of which parts are the numbers. A class with a single row, or all rows in one group,
// cannot be divided.
func HoldOut(name string, labels datasets.Labels, groups, parts []int, classes []string, run config.Resolved) (kept, held []int, err error) {
	if run.Apart() {
		labels, classes = ByPart(run, labels, parts, classes)
	}
	for class, n := range labels.Counts(len(classes)) {
		if n == 1 {
			return nil, nil, fmt.Errorf("%s: one row of class %q; with train.validation it takes two, one to learn from and one to hold out", name, classes[class])
		}
	}
	kept, held = datasets.HoldOutRows(labels, len(classes), run.Train.Validation, groups, rand.New(datasets.Stream(run.Seed, "validation")))
	if groups != nil {
		of := labels.Subset(held).Counts(len(classes))
		for class, n := range labels.Counts(len(classes)) {
			if n > 0 && of[class] == 0 {
				return nil, nil, fmt.Errorf("%s: the rows of class %q are in too few groups: with train.validation it takes a group to learn from and another one to hold out; add groups, or leave group_column out", name, classes[class])
			}
		}
	}
	return kept, held, nil
}

// Check refuses data on which a method is not defined: a set without rows, and a source without rows of a class,
// of which neither loss nor weight is known, or with rows of no class.
func (a *About) Check(run config.Resolved) error {
	hint := ""
	if len(run.Dataset.ClassFractions) > 0 {
		hint = "; dataset.class_fractions leaves none"
	}
	for _, set := range []struct {
		name   string
		labels datasets.Labels
	}{{"source", a.Labels.Source}, {"target", a.Labels.Target}, {"test set", a.Labels.Test}} {
		if set.labels.Len() == 0 {
			return fmt.Errorf("the %s of %s has no rows%s", set.name, run.Task, hint)
		}
	}
	if all := a.Labels.Source.Len(); a.Labels.Source.Known() < all {
		return fmt.Errorf("%d of the %d rows of the source of %s have no label; training needs labels: leave these rows out", all-a.Labels.Source.Known(), all, run.Task)
	}
	for _, source := range a.Sources() {
		if class := slices.Index(source.Labels.Source.Counts(len(a.Classes)), 0); class >= 0 {
			return fmt.Errorf("%s has no row of class %q; class weights need at least one of each", source.in(run), a.Classes[class])
		}
	}
	return nil
}

// Source is what is known of one source of a run, as if there were no other.
type Source struct {
	Name string // "" of the only one
	About
}

// Sources are those of a run.
func (a *About) Sources() (all []Source) {
	for _, part := range a.Parts {
		one := Source{part.Name, *a}
		one.Parts, one.Labels.Source = nil, a.Labels.Source.Subset(part.Rows)
		all = append(all, one)
	}
	if all == nil {
		all = []Source{{"", *a}}
	}
	return all
}

// in says in a message which source of a task it is.
func (s Source) in(run config.Resolved) string {
	if s.Name == "" {
		return "the source of " + run.Task
	}
	return "the source " + s.Name + " of " + run.Task
}

// CheckBatch refuses fewer rows than fill a batch. Drawn with replacement, they have to fill one in the larger
// domain, otherwise in each.
func (a *About) CheckBatch(run config.Resolved, replaced bool) error {
	batch, sources, targets := run.Train.Batch, 0, a.Labels.Target.Len()
	for _, source := range a.Sources() {
		rows := source.Labels.Source.Len()
		if !replaced && rows < batch {
			return fmt.Errorf("%s has %s, less than a batch; train.batch is %d", source.in(run), printable.Count(rows, "row"), batch)
		}
		sources = max(sources, rows)
	}
	switch {
	case replaced && max(sources, targets) < batch:
		return fmt.Errorf("%s has %d source and %d target rows, less than a batch; train.batch is %d", run.Task, sources, targets, batch)
	case !replaced && targets < batch:
		return fmt.Errorf("the target of %s has %s, less than a batch; train.batch is %d", run.Task, printable.Count(targets, "row"), batch)
	}
	return nil
}
