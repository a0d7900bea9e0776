package labelshift

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets/table"
	"iwda/inference/classshares"
	"iwda/inference/trust"
	"iwda/internal/printable"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/intervals"
	"iwda/weightest/shifttest"
)

// Analysis is what is known of a target's class shares.
type Analysis struct {
	Settings
	Source, Target         string // what was read
	Classes                []string
	SourceRows, TargetRows int
	SourceShares           []float64 // by the labels, length k
	Estimate               weightest.Estimate
	// Known is what is known of the corrected predictions of the target, and Answers whether that is what
	// the settings say is needed; nil if there are none.
	Known   *trust.Known
	Answers []trust.Answer
	// Sets are nil unless they are wanted.
	Sets *Sets
	// Uncertainty is nil where no intervals were asked for or could be had.
	Uncertainty *intervals.Uncertainty
	Tests       Tests
	Notes       []string // what to know before relying on it, sentences

	shares        *classshares.Shares
	targetOptions table.Options
}

// Tests say what of the predictions shifted.
type Tests struct {
	ChiSquared        shifttest.ChiSquared
	KolmogorovSmirnov shifttest.KolmogorovSmirnov
	LabelShift        shifttest.LabelShift
}

// Analyse estimates the target's class shares. Equal settings and files give the same
// bits.
func Analyse(source, target *Predictions, s Settings) (*Analysis, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := source.requireEveryClass(); err != nil {
		return nil, err
	}
	estimator, err := classshares.NewEstimator(s.Estimator)
	if err != nil {
		return nil, err
	}
	a := &Analysis{
		Settings: s, Source: source.Name, Target: target.Name, Classes: source.Classes, targetOptions: target.options,
	}
	if source.Unlabelled > 0 {
		a.note("%s of %s without a label: left out.", printable.Count(source.Unlabelled, "row"), source.Name)
	}
	if !strings.HasSuffix(s.Estimator, "-hard") && source.decided() && target.decided() {
		a.note("Nearly all rows have 1 for one class and 0 for the others: these are decisions, not probabilities, and %s estimates biased shares from them. Use --estimator bbse-hard.", s.Estimator)
	}
	classifier, err := s.calibrate(source)
	if err != nil {
		return nil, err
	}
	if a.Calibration = classifier.Form; classifier.Note != "" { // simpler than what was asked for
		a.note("Calibration: %s.", classifier.Note)
	}
	a.shares, err = classshares.Estimate(classifier, source.rows(), source.labels, target.rows(), estimator)
	switch {
	case errors.Is(err, weightest.ErrInvalidRow):
		return nil, fmt.Errorf("%s and %s: %w", source.Name, target.Name, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", s.Estimator, err)
	}
	if err := a.describe(a.shares.Problem, estimator, a.shares.Estimate); err != nil {
		return nil, err
	}
	if err := a.test(); err != nil {
		return nil, err
	}
	if err := a.know(source, target); err != nil {
		return nil, err
	}
	return a, a.findSets(source, target)
}

// of are the settings of package classshares for that source.
func (s Settings) of(source *Predictions) classshares.Settings {
	how := classshares.Settings{Calibration: s.Calibration, Trained: source.trained}
	if s.TrainShares != nil {
		how.Trained = s.TrainShares
	}
	return how
}

// calibrate fits the calibration of the settings to a source. One row that would decide it is an
// error.
func (s Settings) calibrate(source *Predictions) (classshares.Classifier, error) {
	if s.Calibration != calibration.None && source.Kind == table.Logits {
		if far := calibration.FindFurthest(source.values, source.labels, len(source.Classes)); far != nil {
			return classshares.Classifier{}, fmt.Errorf("%s: %s; this row alone would decide the calibration: correct it or leave it out, or use the logits uncalibrated (--calibration none)",
				source.Name, far.Describe(source.place(far.Row), strconv.Quote(source.Classes[far.Class])))
		}
	}
	c, err := classshares.Calibrate(len(source.Classes), source.rows(), source.labels, s.of(source))
	if err != nil {
		err = fmt.Errorf("%s: %w", source.Name, err)
	}
	return c, err
}

// note appends a sentence.
func (a *Analysis) note(format string, values ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, values...))
}

// describe sets what the estimate of a problem is, and notes how far to trust it.
func (a *Analysis) describe(p weightest.Problem, estimator weightest.Estimator, e weightest.Estimate) error {
	a.Estimate = e
	ambiguity, err := weightest.Ambiguity(estimator, p)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Estimator, err)
	}
	if a.Estimate.Warning != "" {
		a.note("%s: %s.", a.Estimator, a.Estimate.Warning)
	}
	if ambiguity != nil {
		widest := floats.MaxIdx(ambiguity)
		a.note("%s: these predictions do not determine the class shares: other shares explain them as well, however many rows there are. The share of %s is the least certain: others may differ by up to %.2f.",
			a.Estimator, a.Classes[widest], ambiguity[widest])
	}
	if len(a.Classes) > weightest.MostDense {
		a.note("Whether other class shares explain the predictions as well was not computed of more than %d classes.", weightest.MostDense)
	}
	a.SourceRows, a.TargetRows, a.SourceShares = p.SourceRows, p.TargetRows, p.SourceDistribution
	return nil
}

// test makes all tests.
func (a *Analysis) test() (err error) {
	if a.Tests.ChiSquared, err = shifttest.ChiSquaredTest(a.shares.Sample.Sums()); err != nil {
		return err
	}
	if a.Tests.KolmogorovSmirnov, err = shifttest.KolmogorovSmirnovTest(a.shares.Sample); err != nil {
		return err
	}
	a.Tests.LabelShift, err = a.shares.TestLabelShift(shifttest.LabelShiftSettings{Seed: a.Seed})
	return err
}

// bound takes intervals, or notes why there are none: the estimate stands without them.
func (a *Analysis) bound(u intervals.Uncertainty, err error) {
	if err != nil {
		a.note("No intervals: %v.", err)
		return
	}
	a.Uncertainty = &u
	if u.Warning != "" {
		a.note("Intervals: %s.", u.Warning)
	}
}

// correct returns the corrected probabilities of target rows. The error names a row that has
// none.
func (a *Analysis) correct(first, last int) ([]float64, error) {
	corrected, err := a.shares.Correct(first, last)
	if err == nil {
		return corrected, nil
	}
	k := len(a.Classes)
	for row := first; row < last; row++ {
		if floats.Dot(a.shares.Sample.Target()[row*k:(row+1)*k], a.Estimate.Weights) == 0 {
			return nil, fmt.Errorf("%s: row %d has probability 0 in every class that the target has according to %s; use a calibration such as ts, after which no probability is 0",
				a.Target, row, a.Estimator)
		}
	}
	return nil, err
}

// know sets what is known of the corrected predictions, and intervals.
func (a *Analysis) know(source, target *Predictions) error {
	k := len(a.Classes)
	needs, err := trust.ParseNeeds(a.Needs, a.Classes)
	if err != nil {
		return err
	}
	by := trust.Classifier{Shares: a.shares, HeldOut: source.rows(), Labels: source.labels, Rows: target.rows()}
	claimed := 0.0
	for first := 0; first < a.TargetRows; first += batchRows {
		corrected, err := a.correct(first, min(first+batchRows, a.TargetRows))
		if err != nil {
			a.note("Nothing is known of the predictions: %v.", err)
			return a.boundAlone()
		}
		for row := range slices.Chunk(corrected, k) {
			class := floats.MaxIdx(row)
			by.Own = append(by.Own, class)
			claimed += row[class] / float64(a.TargetRows)
		}
	}
	rows, _ := a.shares.Sample.Source()
	weighted := make([]float64, k)
	for row := range slices.Chunk(rows, k) {
		by.OwnHeldOut = append(by.OwnHeldOut, floats.MaxIdx(floats.MulTo(weighted, row, a.Estimate.Weights)))
	}
	e := trust.Evidence{Test: a.Tests.LabelShift, AssumeLabelShift: a.LabelShift, Bootstrap: a.bootstrap()}
	known := trust.Of(a.Classes, by, trust.Predictions{Classes: by.Own, Plain: a.shares.Sample.Target(), Claimed: claimed}, e)
	a.Known, a.Answers = &known, known.Answers(needs)
	if known.Uncertainty != nil {
		a.bound(*known.Uncertainty, nil)
	} else if e.Bootstrap.Replicas > 0 {
		return a.boundAlone()
	}
	return nil
}

// boundAlone finds the intervals of class shares of which no performance is known.
func (a *Analysis) boundAlone() error {
	if a.Replicas > 0 {
		u, err := a.shares.Bootstrap(a.bootstrap())
		a.bound(u, err)
	}
	return nil
}

func (a *Analysis) bootstrap() intervals.BootstrapSettings {
	return intervals.BootstrapSettings{Replicas: a.Replicas, Level: a.Level, Seed: a.Seed}
}

// WriteCorrected writes the corrected predictions of the target, with ids, as
// table.WritePredictions does. It is an error if the target has other rows by now.
func (a *Analysis) WriteCorrected(path string) error {
	file, err := openTarget(a.Target, a.targetOptions)
	if err != nil {
		return err
	}
	defer file.Close()
	k := len(a.Classes)
	_, err = table.WritePredictions(path, table.Predictions{Classes: a.Classes, Probabilities: true, Sets: a.Sets != nil}, func(add table.Add) error {
		row, rows := make([]float32, k), 0
		for batch, err := range file.Batches(batchRows) {
			if err != nil {
				return err
			}
			if rows += batch.Len(); rows > a.TargetRows {
				break
			}
			corrected, err := a.correct(batch.First, batch.First+batch.Len())
			if err != nil {
				return err
			}
			sets, err := a.Sets.of(&Predictions{Name: a.Target, Classes: a.Classes, Kind: file.Kind(), values: batch.Values})
			if err != nil {
				return err
			}
			for i := range batch.Len() {
				for j := range row {
					row[j] = float32(corrected[i*k+j])
				}
				if err := add(batch.ID(i), row, sets[i]...); err != nil {
					return err
				}
			}
		}
		if rows != a.TargetRows {
			return fmt.Errorf("%s had %s when it was analysed, and has changed since: run the command again", a.Target, printable.Count(a.TargetRows, "row"))
		}
		return nil
	})
	return err
}
