// Package labelshift answers, from files of anyone's classifier's predictions, how frequent
// the classes are in a target without labels, how sure that is, whether class
// shares are all that changed, and what the predictions should have been.
//
// Analyse and Compare read the predictions of held-out source rows and of target rows
// into memory. What they find is a sheet for readers and programs.
package labelshift

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/datasets/table"
	"iwda/experiments/store"
	"iwda/inference/classshares"
	"iwda/internal/printable"
	"iwda/weightest"
	"iwda/weightest/calibration"
)

// Predictions are what a classifier says of the rows of a file.
type Predictions struct {
	Name    string   // the file's path
	Classes []string // in label order
	// Named says that the file, or the source that it goes with, names the classes.
	Named bool
	Kind  table.Kind // table.Probabilities or table.Logits
	// Unlabelled is the number of source rows that were left out, as their labels are
	// not known.
	Unlabelled int

	options table.Options
	values  []float32 // row-major n×k
	labels  []int     // of a source, length n
	groups  []int     // of rows that belong together; nil if none are named
	places  []uint64  // of a source's rows in the file, length n; nil: 0, 1, …
	trained []float64 // of a run's source: class shares for which its network speaks, nil if not known
}

// Rows returns n.
func (p *Predictions) Rows() int { return len(p.values) / len(p.Classes) }

// place is the number in the file of a row.
func (p *Predictions) place(row int) uint64 {
	if p.places == nil {
		return uint64(row)
	}
	return p.places[row]
}

// batchRows is the number of rows that are read, calibrated and written together.
const batchRows = 4096

// ReadSource reads the predictions of held-out source rows, which the classifier was not
// trained on, with their labels. Rows whose label is not known are left out.
func ReadSource(path string, o table.Options) (*Predictions, error) {
	file, err := openSource(path, o)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := newPredictions(file, o)
	if err != nil {
		return nil, err
	}
	var of table.Grouping
	for batch, err := range file.Batches(batchRows) {
		if err != nil {
			return nil, err
		}
		values, labels, places := labelled(batch, len(p.Classes))
		for i := range batch.Len() {
			if _, known := batch.Label(i); known {
				p.addGroup(&of, batch, i)
			}
		}
		p.values, p.labels, p.places = append(p.values, values...), append(p.labels, labels...), append(p.places, places...)
		p.Unlabelled += batch.Len() - len(labels)
	}
	if len(p.labels) == 0 {
		return nil, fmt.Errorf("%s: no row has a label; those of the source need one", path)
	}
	return p, p.checkOrder()
}

// checkOrder returns an error if the columns stand in another order than the classes: if most rows whose
// largest value is in a column have another label, each column's one of its own, and so many more of
// them that chance cannot be why (five standard errors of the difference).
func (p *Predictions) checkOrder() error {
	k := len(p.Classes)
	counts := mat.NewDense(k, k, nil) // of rows by column and label
	for i, label := range p.labels {
		largest := 0
		for class, value := range p.values[i*k : (i+1)*k] {
			if value > p.values[i*k+largest] {
				largest = class
			}
		}
		counts.Set(largest, label, counts.At(largest, label)+1)
	}
	var found []string
	seen, right, other := map[int]bool{}, 0.0, 0.0
	for column := range k {
		most := floats.MaxIdx(counts.RawRowView(column))
		right, other = right+counts.At(column, column), other+counts.At(column, most)
		if seen[most] || counts.At(column, most) == 0 {
			return nil
		}
		if seen[most] = true; most != column {
			found = append(found, fmt.Sprintf("%.50q are labelled %.50q", p.Classes[column], p.Classes[most]))
		}
	}
	if other-right <= 5*math.Sqrt(other+right) {
		return nil
	}
	return fmt.Errorf("%s: columns and labels do not go together: most rows predicted as %s; the columns are taken to be %s, so name the class of each, as the array class_names or the header of columns does",
		p.Name, printable.And(found[:min(len(found), 3)]), printable.And(p.Classes[:min(k, 5)]))
}

// ReadTarget reads the predictions of target rows, of which no label is read. They must
// have the kind and the classes of the source's.
func ReadTarget(path string, o table.Options, source *Predictions) (*Predictions, error) {
	file, p, err := openTargetOf(path, o, source)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var of table.Grouping
	for batch, err := range file.Batches(batchRows) {
		if err != nil {
			return nil, err
		}
		p.values = append(p.values, batch.Values...)
		for i := range batch.Len() {
			p.addGroup(&of, batch, i)
		}
	}
	if o.Group != "" && len(p.values) > 0 && p.groups == nil && source.groups == nil {
		return nil, fmt.Errorf("neither %s nor %s has a column %q: name one that says which rows belong together, or leave --group-column out", source.Name, path, o.Group)
	}
	return p, nil
}

// openTargetOf opens a file whose rows have the kind and the classes of the source's.
func openTargetOf(path string, o table.Options, source *Predictions) (*table.Table, *Predictions, error) {
	o.Reference = table.Reference{Name: source.Name, Width: len(source.Classes)}
	if source.Named {
		o.Reference.Classes = source.Classes
	}
	file, err := openTarget(path, o)
	if err != nil {
		return nil, nil, err
	}
	p, err := newPredictions(file, o)
	if err == nil && p.Kind != source.Kind {
		err = fmt.Errorf("%s holds %s, but %s holds %s; both must hold the same", path, p.Kind, source.Name, source.Kind)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, p, nil
}

// EachTarget is ReadTarget in constant memory: take is told of each row's probabilities, without
// calibration, of its id, and of the name of its group.
func EachTarget(path string, o table.Options, source *Predictions, take func(id, group string, probabilities []float64) error) error {
	file, p, err := openTargetOf(path, o, source)
	if err != nil {
		return err
	}
	defer file.Close()
	k := len(source.Classes)
	for batch, err := range file.Batches(batchRows) {
		if err != nil {
			return err
		}
		p.values = batch.Values
		rows, err := p.Probabilities()
		if err != nil {
			return fmt.Errorf("%s: rows from %d: %w", path, batch.First, err)
		}
		for i := range batch.Len() {
			group, has := batch.Group(i)
			if !has && o.Group != "" {
				return fmt.Errorf("%s has no column %q: name one that says which rows belong together, or leave --group-column out", path, o.Group)
			}
			if err := take(batch.ID(i), group, rows[i*k:(i+1)*k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Probabilities returns those of all rows, without calibration, row-major n×k.
func (p *Predictions) Probabilities() ([]float64, error) {
	rows := p.rows()
	if rows.Probabilities {
		if err := weightest.CheckProbabilities(p.Name, rows.Values, len(p.Classes)); err != nil {
			return nil, err
		}
	}
	return classshares.Classifier{Calibration: calibration.Identity(len(p.Classes))}.Of(rows), nil
}

// Labels returns those of a source's rows.
func (p *Predictions) Labels() []int { return p.labels }

// Groups returns the numbers of the groups of a source's rows; nil if the file has none.
func (p *Predictions) Groups() []int { return p.groups }

// ReadRun reads the logits that the network of the finished run of the folder gives in
// evaluation mode, of the source's rows that were held out and of the target's test rows,
// whose labels are not read. A run that held nothing out has none.
func ReadRun(folder string) (source, target *Predictions, err error) {
	dir, err := store.DirOf(folder)
	if err != nil {
		return nil, nil, err
	}
	result, err := dir.ReadResult()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s is not a finished run: it has no %s. Name a run's folder, such as results/mine/full/photos-sketches/iwdan/seed-1; the runs of iwrun adapt are in the folder runs of its output", folder, store.ResultFile)
	}
	if err != nil {
		return nil, nil, err
	}
	outputs, err := dir.ReadOutputs()
	if err != nil {
		return nil, nil, err
	}
	if outputs.Classes != len(result.Classes) {
		return nil, nil, fmt.Errorf("%s: logits of %d classes, and %s names %d", dir.Path(store.OutputsFile), outputs.Classes, store.ResultFile, len(result.Classes))
	}
	of := func(rows string, values []float32) *Predictions {
		return &Predictions{Name: fmt.Sprintf("%s (%s)", folder, rows), Classes: result.Classes, Named: true, Kind: table.Logits, values: values}
	}
	source, target = of("held-out source rows", outputs.HeldOut), of("target rows", outputs.Compared())
	source.labels, source.groups, target.groups = outputs.HeldOutLabels, outputs.HeldOutGroups, outputs.TargetGroups
	if known := result.WithoutLabels; known != nil {
		source.trained = known.TrainedShares
	}
	return source, target, nil
}

// labelled returns the rows of a batch whose label is known, their labels, and their numbers in
// the file.
func labelled(batch *table.Batch, k int) (values []float32, labels []int, numbers []uint64) {
	values = make([]float32, 0, len(batch.Values))
	for i := range batch.Len() {
		if label, known := batch.Label(i); known {
			values = append(values, batch.Values[i*k:(i+1)*k]...)
			labels, numbers = append(labels, label), append(numbers, uint64(batch.First+i))
		}
	}
	return values, labels, numbers
}

// openSource opens a file of predictions with labels.
func openSource(path string, o table.Options) (*table.Table, error) {
	file, err := open(path, o)
	if err == nil && !file.HasLabels() {
		file.Close()
		return nil, fmt.Errorf("%s: no labels; the rows of the source need them", path)
	}
	return file, err
}

// openTarget opens a file of predictions whose labels, if there are any, are not read.
func openTarget(path string, o table.Options) (*table.Table, error) {
	o.IgnoreLabels, o.Label = true, ""
	return open(path, o)
}

// open opens a file of predictions. Values of which no name says what they are are probabilities, which
// the first rows show: they sum to 1.
func open(path string, o table.Options) (*table.Table, error) {
	if there, err := table.Names(path); err == nil && !slices.Contains(there, o.Group) {
		o.Group = "" // one of both files has it
	}
	file, err := table.Open(path, o)
	if err != nil || file.Kind() != table.Features {
		return file, err
	}
	file.Close()
	o.Kind = table.Probabilities
	if file, err = table.Open(path, o); err == nil {
		next, stop := iter.Pull2(file.Batches(batchRows))
		_, err, _ = next()
		if stop(); err == nil {
			return file, nil
		}
		file.Close()
	}
	return nil, fmt.Errorf("%w\nwant a classifier's probabilities, or its logits with --kind logits; rows of features are for iwrun adapt SOURCE TARGET", err)
}

// newPredictions returns the predictions of a file without rows, with room for them.
func newPredictions(file *table.Table, o table.Options) (*Predictions, error) {
	classes, err := file.ClassNames()
	if err != nil {
		return nil, err
	}
	return &Predictions{
		Name:    file.Name(),
		Classes: classes,
		Named:   file.HasClassNames() || o.Reference.Classes != nil,
		Kind:    file.Kind(),
		options: o,
		values:  make([]float32, 0, max(0, file.Len())*len(classes)),
	}, nil
}

// rows are the predictions as package classshares reads them.
func (p *Predictions) rows() classshares.Rows {
	return classshares.Rows{Values: p.values, Probabilities: p.Kind == table.Probabilities, Groups: p.groups}
}

// addGroup adds a row of a batch, if the file has groups.
func (p *Predictions) addGroup(of *table.Grouping, batch *table.Batch, row int) {
	if name, has := batch.Group(row); has {
		p.groups = append(p.groups, of.Number(name))
	}
}

// decided returns whether 99% of the rows are one-hot, up to rounding.
func (p *Predictions) decided() bool {
	certain := 0
	for row := range slices.Chunk(p.values, len(p.Classes)) {
		if slices.Max(row) > 1-1e-6 {
			certain++
		}
	}
	return p.Kind == table.Probabilities && float64(certain) >= 0.99*float64(p.Rows())
}

// requireEveryClass returns an error that names a class without a source row.
func (p *Predictions) requireEveryClass() error {
	for class, name := range p.Classes {
		if !slices.Contains(p.labels, class) {
			return fmt.Errorf("%s: class %q has no row, so it is not known how the classifier predicts it; add labelled rows of it, or leave the class out of both files", p.Name, name)
		}
	}
	return nil
}
