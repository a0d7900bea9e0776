package labelshift

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"iwda/classshares"
	"iwda/datasets/table"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/intervals"
	"iwda/weightest/shifttest"
)

// Part are the sums of some rows, source rows, target rows or both, and their sums in the
// replicas of a bootstrap: all that the estimators in closed form, the shift test on counts
// and intervals need. Parts merge in any order to what one pass over all rows would give.
type Part struct {
	Classes []string // nil where no file names them
	Sums    *weightest.Sums
	// Replicas are nil where no bootstrap was asked for.
	Replicas *intervals.Replicas
	// Source and Target are the numbers of the rows of the files that were counted, in rising
	// order, source rows without a label among them.
	Source, Target []Span
}

// Span are the row numbers from First up to, not including, Last.
type Span struct{ First, Last uint64 }

// Count counts the rows of a source file, a target file or both, in a single pass and in
// constant memory; an empty path stands for no file. The probabilities are counted as they
// are, without calibration, and in as many replicas of a bootstrap as the settings say. first is
// the number of the first row of both files among all rows of the data set: the bootstrap
// resamples a row by its number, so that those of parts must not overlap.
func Count(source, target string, o table.Options, s Settings, first uint64) (*Part, error) {
	if source == "" && target == "" {
		return nil, errors.New("neither source nor target rows to count")
	}
	p := &Part{}
	if source != "" {
		file, err := openSource(source, o)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if p.Source, err = p.count(file, true, s, first); err != nil {
			return nil, err
		}
		o.Reference = table.Reference{Name: source, Width: p.Sums.Classes(), Classes: p.Classes}
	}
	if target != "" {
		file, err := openTarget(target, o)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if p.Target, err = p.count(file, false, s, first); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// begin makes room for the sums of a file's classes.
func (p *Part) begin(file *table.Table, s Settings) error {
	classes, err := file.ClassNames()
	if err != nil {
		return err
	}
	p.Sums = weightest.NewSums(len(classes))
	if file.HasClassNames() {
		p.Classes = classes
	}
	if s.Replicas > 0 {
		if err := checkReplicas(s.Replicas, len(classes), calibration.None); err != nil {
			return err
		}
		p.Replicas = intervals.NewReplicas(len(classes), s.Replicas, s.Seed)
	}
	return nil
}

// count adds the rows of a file: those of the source whose label is known, or those of the
// target. It returns the numbers of all its rows, which begin with first.
func (p *Part) count(file *table.Table, ofSource bool, s Settings, first uint64) ([]Span, error) {
	if p.Sums == nil {
		if err := p.begin(file, s); err != nil {
			return nil, err
		}
	}
	k, next := p.Sums.Classes(), first
	as := classshares.Classifier{Calibration: calibration.Identity(k)}
	for batch, err := range file.Batches(batchRows) {
		if err != nil {
			return nil, err
		}
		if left := math.MaxUint64 - next; uint64(batch.Len()) > left {
			return nil, fmt.Errorf("%s: row %d of a file whose first row has the number %d is past the last number, %d: --first-row must be smaller",
				file.Name(), uint64(batch.First)+left, first, uint64(math.MaxUint64-1))
		}
		values, numbers := batch.Values, intervals.Numbers(next, batch.Len())
		var labels []int
		if ofSource {
			values, labels, numbers = labelled(batch, k, first)
		}
		next += uint64(batch.Len())
		rows := as.Of(classshares.Rows{Values: values, Probabilities: file.Kind() == table.Probabilities})
		if err := p.add(rows, labels, numbers, ofSource); err != nil {
			return nil, fmt.Errorf("%s: rows from %d: %w", file.Name(), batch.First, err)
		}
	}
	if first == next {
		return nil, nil
	}
	return []Span{{first, next}}, nil
}

// add adds rows to the sums and to those of the replicas.
func (p *Part) add(rows []float64, labels []int, numbers []uint64, ofSource bool) error {
	if !ofSource {
		if err := p.Sums.AddTarget(rows); err != nil || p.Replicas == nil {
			return err
		}
		return p.Replicas.AddTarget(rows, numbers)
	}
	if err := p.Sums.AddSource(rows, labels); err != nil || p.Replicas == nil {
		return err
	}
	return p.Replicas.AddSource(rows, labels, numbers)
}

// Merge adds the rows of another part. Other classes, another bootstrap, and rows that
// both counted are an error.
func (p *Part) Merge(other *Part) error {
	if p.Classes != nil && other.Classes != nil && !slices.Equal(p.Classes, other.Classes) {
		return fmt.Errorf("its classes are %.200q, but those of the parts before it are %.200q", other.Classes, p.Classes)
	}
	source, err := join("source", p.Source, other.Source)
	if err != nil {
		return err
	}
	target, err := join("target", p.Target, other.Target)
	if err != nil {
		return err
	}
	if (p.Replicas == nil) != (other.Replicas == nil) {
		return errors.New("only some of the parts have a bootstrap's replicas")
	}
	if p.Replicas != nil {
		if err := p.Replicas.Merge(other.Replicas); err != nil {
			return err
		}
	}
	if err := p.Sums.Merge(other.Sums); err != nil {
		return err
	}
	if p.Classes == nil {
		p.Classes = other.Classes
	}
	p.Source, p.Target = source, target
	return nil
}

// join returns the spans of both lists in rising order, those that touch as one.
func join(domain string, a, b []Span) ([]Span, error) {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y Span) int {
		return cmp.Or(cmp.Compare(x.First, y.First), cmp.Compare(x.Last, y.Last))
	})
	var joined []Span
	for _, span := range all {
		last := len(joined) - 1
		switch {
		case last < 0 || joined[last].Last < span.First:
			joined = append(joined, span)
		case joined[last].Last == span.First:
			joined[last].Last = span.Last
		default:
			return nil, fmt.Errorf("%s row %d is in another part already: parts count different rows, and --first-row numbers them", domain, span.First)
		}
	}
	return joined, nil
}

// Analyse estimates the target's class shares from sums. Estimators and tests that read
// rows, calibration and corrected predictions are not to be had.
func (p *Part) Analyse(name string, s Settings) (*Analysis, error) {
	if err := s.checkForSums(); err != nil {
		return nil, err
	}
	a := &Analysis{Settings: s, Source: name, Target: name, Classes: p.Classes}
	if a.Classes == nil {
		for class := range p.Sums.Classes() {
			a.Classes = append(a.Classes, fmt.Sprint(class))
		}
	}
	problem, err := p.Sums.Problem()
	if err != nil {
		return nil, err
	}
	for class, share := range problem.SourceDistribution {
		if share == 0 {
			return nil, missingClass(name, a.Classes[class])
		}
	}
	estimator, err := classshares.NewEstimator(s.Estimator)
	if err != nil {
		return nil, err
	}
	estimate, err := estimator.Estimate(problem)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Estimator, err)
	}
	if err := a.describe(problem, estimator, estimate); err != nil {
		return nil, err
	}
	if a.Tests.ChiSquared, err = shifttest.ChiSquaredTest(p.Sums); err != nil {
		return nil, err
	}
	if a.Replicas == 0 {
		return a, nil
	}
	if p.Replicas == nil {
		a.note("No intervals: the parts were counted with --intervals none.")
		return a, nil
	}
	a.Replicas, a.Seed = p.Replicas.Count(), p.Replicas.Seed()
	a.bound(p.Replicas.Intervals(estimator, a.Level))
	return a, nil
}
