// Package labelshift answers, from files of anyone's classifier's predictions, how frequent
// the classes are in a target without labels, how sure that is, whether changed class
// shares alone explain the predictions, and what these should have been.
//
// Analyse and Compare read the predictions of held-out source rows and of target rows
// into memory; a Part counts the rows of files as they pass, and parts merge, for data
// of any size. What they find is a sheet for readers and programs.
package labelshift

import (
	"fmt"
	"math"

	"iwda/datasets/table"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/intervals"
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
	places  []uint64  // of a source's rows in the file, length n; nil: 0, 1, …
}

// Rows returns n.
func (p *Predictions) Rows() int { return len(p.values) / len(p.Classes) }

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
	if err := p.read(file, p.addLabelled); err != nil {
		return nil, err
	}
	if len(p.labels) == 0 {
		return nil, fmt.Errorf("%s: no row has a label; those of the source need one", path)
	}
	return p, nil
}

// ReadTarget reads the predictions of target rows, of which no label is read. They must
// have the kind and the classes of the source's.
func ReadTarget(path string, o table.Options, source *Predictions) (*Predictions, error) {
	o.Reference = table.Reference{Name: source.Name, Width: len(source.Classes)}
	if source.Named {
		o.Reference.Classes = source.Classes
	}
	file, err := openTarget(path, o)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := newPredictions(file, o)
	if err != nil {
		return nil, err
	}
	if p.Kind != source.Kind {
		return nil, fmt.Errorf("%s holds %s and %s %s; both must hold the same", path, p.Kind, source.Name, source.Kind)
	}
	return p, p.read(file, func(batch *table.Batch) { p.values = append(p.values, batch.Values...) })
}

// read adds the rows of a file.
func (p *Predictions) read(file *table.Table, add func(*table.Batch)) error {
	for batch, err := range file.Batches(batchRows) {
		if err != nil {
			return err
		}
		add(batch)
	}
	return nil
}

// addLabelled adds the rows whose label is known and counts the others.
func (p *Predictions) addLabelled(batch *table.Batch) {
	k := len(p.Classes)
	for i := range batch.Len() {
		label, known := batch.Label(i)
		if !known {
			if p.Unlabelled == 0 {
				p.places = intervals.Numbers(0, len(p.labels))
			}
			p.Unlabelled++
			continue
		}
		if p.Unlabelled > 0 {
			p.places = append(p.places, uint64(batch.First+i))
		}
		p.values = append(p.values, batch.Values[i*k:(i+1)*k]...)
		p.labels = append(p.labels, label)
	}
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
	o.IgnoreLabels, o.Labels = true, ""
	return open(path, o)
}

func open(path string, o table.Options) (*table.Table, error) {
	file, err := table.Open(path, o)
	if err == nil && file.Kind() == table.Features {
		file.Close()
		return nil, fmt.Errorf("%s: nothing says whether the values are probabilities or logits; give them that name, or --kind", path)
	}
	return file, err
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

// shares returns the label shares of a source, length k. The error names a class without
// a row.
func (p *Predictions) shares() ([]float64, error) {
	shares := make([]float64, len(p.Classes))
	for _, label := range p.labels {
		shares[label]++
	}
	for class, rows := range shares {
		if rows == 0 {
			return nil, missingClass(p.Name, p.Classes[class])
		}
		shares[class] = rows / float64(len(p.labels))
	}
	return shares, nil
}

// missingClass is the error of a class that no source row has.
func missingClass(name, class string) error {
	return fmt.Errorf("%s: class %q has no row: nothing tells how the classifier predicts it; add labelled rows of it, or leave the class out of both files", name, class)
}

// probabilities turns predictions into calibrated probabilities that are right under the
// source's class shares.
type probabilities struct {
	kind table.Kind
	// source and trained are the class shares of the source and those that the
	// classifier's own probabilities are right under; trained is nil where they are the
	// same.
	source, trained []float64
	calibration     calibration.Calibration
}

// identity is the calibration that leaves probabilities as they are.
func identity(k int) calibration.Calibration {
	c := calibration.Calibration{Form: "none", Scales: make([]float64, k), Biases: make([]float64, k)}
	for j := range c.Scales {
		c.Scales[j] = 1
	}
	return c
}

// of returns the probabilities of some rows.
func (p *probabilities) of(values []float32) ([]float64, error) {
	forSource, err := p.forSource(values)
	if err != nil || p.kind == table.Probabilities && p.calibration.Form == "none" {
		return forSource, err
	}
	return p.calibration.Probabilities(p.logits(forSource)), nil
}

// forSource returns rows as they would be under the source's class shares: probabilities
// that are corrected for them, or logits to which the logarithm of the shares' ratio is
// added.
func (p *probabilities) forSource(values []float32) ([]float64, error) {
	wide := weightest.Widen(values)
	switch {
	case p.trained == nil:
		return wide, nil
	case p.kind == table.Probabilities:
		return weightest.Correct(wide, p.source, p.trained)
	}
	k := len(p.source)
	for i := range wide {
		wide[i] += math.Log(p.source[i%k] / p.trained[i%k])
	}
	return wide, nil
}

// logits returns what calibration reads of rows.
func (p *probabilities) logits(rows []float64) []float64 {
	if p.kind == table.Logits {
		return rows
	}
	return calibration.CenteredLogs(rows, len(p.source))
}

// fit calibrates on all rows of the source.
func (p *probabilities) fit(name string, source *Predictions) error {
	if name == "none" {
		p.calibration = identity(len(p.source))
		return nil
	}
	rows, err := p.forSource(source.values)
	if err != nil {
		return err
	}
	p.calibration, err = calibration.Calibrate(name, p.logits(rows), source.labels, len(p.source))
	return err
}

// newProbabilities fits a calibration to the source. trained may be nil, see Settings.
func newProbabilities(calibration string, source *Predictions, shares, trained []float64) (*probabilities, error) {
	if trained != nil && len(trained) != len(shares) {
		return nil, fmt.Errorf("%d shares in training for the %d classes of %s", len(trained), len(shares), source.Name)
	}
	for class, share := range trained {
		if !(share > 0) || math.IsInf(share, 1) {
			return nil, fmt.Errorf("the share of class %q in training is %v; it must be positive", source.Classes[class], share)
		}
	}
	p := &probabilities{kind: source.Kind, source: shares, trained: trained}
	return p, p.fit(calibration, source)
}

// sample returns the calibrated rows of both files.
func (p *probabilities) sample(source, target *Predictions) (*weightest.Sample, error) {
	k := len(p.source)
	s := weightest.NewSample(k)
	s.Grow(source.Rows(), target.Rows())
	err := p.eachBatch(source, func(first int, rows []float64) error {
		return s.AddSource(rows, source.labels[first:first+len(rows)/k])
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.Name, err)
	}
	err = p.eachBatch(target, func(_ int, rows []float64) error { return s.AddTarget(rows) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", target.Name, err)
	}
	return s, nil
}

// eachBatch hands over the probabilities of some rows after the other, with the number of
// the first.
func (p *probabilities) eachBatch(of *Predictions, add func(first int, rows []float64) error) error {
	k := len(p.source)
	for first := 0; first < of.Rows(); first += batchRows {
		last := min(first+batchRows, of.Rows())
		rows, err := p.of(of.values[first*k : last*k])
		if err == nil {
			err = add(first, rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
