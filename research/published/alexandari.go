package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"iwda/experiments/report/sheet"
	"iwda/internal/evenly"
	"iwda/weightest"
	"iwda/weightest/calibration"
)

// Alexandari is the protocol of Alexandari, Kundaje and Shrikumar (2020): networks
// trained on the first images of the training set; held-out rows, and with them the
// calibration, from its last ones; targets drawn from the test set.
type Alexandari struct {
	Experiment   string      `yaml:"experiment"`
	Protocol     string      `yaml:"protocol"`
	Network      Network     `yaml:"network"`
	TrainingRows int         `yaml:"training_rows"` // the first of the training set
	HeldOutRows  int         `yaml:"held_out_rows"` // the last of the training set
	Networks     int         `yaml:"networks"`
	Draws        int         `yaml:"draws"`     // from each network's rows
	Rows         []int       `yaml:"rows,flow"` // of a draw: as many held-out as target rows
	Shifts       []Shift     `yaml:"shifts,flow"`
	Estimators   []Estimator `yaml:"estimators,flow"`
}

// Estimator names an estimator of package weightest, and the calibrations of the rows
// that it is given, one after the other.
type Estimator struct {
	Name         string   `yaml:"name"`
	Calibrations []string `yaml:"calibrations,flow"`
}

func (a *Alexandari) check() error {
	if err := a.Network.check(); err != nil {
		return err
	}
	for _, count := range []struct {
		key   string
		value int
	}{{"training_rows", a.TrainingRows}, {"held_out_rows", a.HeldOutRows}, {"networks", a.Networks}, {"draws", a.Draws}} {
		if count.value < 1 {
			return invalid(count.key, count.value, "at least 1")
		}
	}
	if len(a.Rows) == 0 || slices.Min(a.Rows) < 1 || slices.Max(a.Rows) > a.HeldOutRows {
		return invalid("rows", a.Rows, "a list of numbers from 1 to held_out_rows")
	}
	if len(a.Shifts) == 0 {
		return invalid("shifts", a.Shifts, "a list")
	}
	for _, shift := range a.Shifts {
		if err := shift.check(); err != nil {
			return err
		}
	}
	if len(a.Estimators) == 0 {
		return invalid("estimators", a.Estimators, "a list")
	}
	for _, e := range a.Estimators {
		if _, err := newEstimator(e.Name); err != nil {
			return err
		}
		for _, name := range e.Calibrations {
			if !slices.Contains(calibration.Names(), name) {
				return invalid("calibrations of "+e.Name, name, fmt.Sprint("among ", calibration.Names()))
			}
		}
	}
	return nil
}

// method is an estimator on rows of a calibration.
type method struct{ Estimator, Calibration string }

func (a *Alexandari) methods() []method {
	var methods []method
	for _, e := range a.Estimators {
		for _, calibration := range e.Calibrations {
			methods = append(methods, method{e.Name, calibration})
		}
	}
	return methods
}

// condition is a shift and a number of rows.
type condition struct {
	Shift Shift
	Rows  int
}

func (a *Alexandari) conditions() []condition {
	var conditions []condition
	for _, shift := range a.Shifts {
		for _, n := range a.Rows {
			conditions = append(conditions, condition{shift, n})
		}
	}
	return conditions
}

// score is how well a method did on a draw.
type score struct {
	WeightMSE    float64 // mean over the classes of (w - ŵ)²
	AccuracyGain float64 // of the corrected predictions over the classifier's own, fraction of 1
}

// scores are those of every draw, network by network, for each method of a condition.
type scores map[condition]map[method][]score

// measure trains the networks, makes the draws, and returns what came of them and each
// network's accuracy on the test images.
func (a *Alexandari) measure(ctx context.Context, d *digits, parallel int) (scores, []float64, error) {
	if needed := a.TrainingRows + a.HeldOutRows; needed > d.train.Len() {
		return nil, nil, fmt.Errorf("training_rows and held_out_rows ask for %d images, the training set has %d", needed, d.train.Len())
	}
	rows := evenly.All(d.train.Len())
	heldOut := rows[len(rows)-a.HeldOutRows:]
	networks := make([]predictions, a.Networks)
	err := inParallel(ctx, parallel, a.Networks, func(ctx context.Context, i int) (err error) {
		seed := seedOf(i)
		networks[i], err = d.predict(ctx, training{
			Name: fmt.Sprintf("seed-%d", seed), Network: a.Network, Seed: seed, Rows: rows[:a.TrainingRows], HeldOut: heldOut,
		})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	accuracies := make([]float64, a.Networks)
	for i, p := range networks {
		accuracies[i] = accuracy(p.test, d.testLabels)
	}
	heldOutLabels := evenly.Pick(d.trainLabels, heldOut)
	all := scores{}
	for _, c := range a.conditions() {
		draws := make([][]score, a.Networks*a.Draws)
		err := inParallel(ctx, parallel, len(draws), func(_ context.Context, i int) (err error) {
			network, number := i/a.Draws, i%a.Draws
			s := a.draw(c, seedOf(network), number, networks[network], heldOutLabels, d)
			if draws[i], err = s.scores(a.methods()); err != nil {
				return fmt.Errorf("%v, %d rows, network %d, draw %d: %w", c.Shift, c.Rows, network, number, err)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		all[c] = map[method][]score{}
		for i, m := range a.methods() {
			for _, draw := range draws {
				all[c][m] = append(all[c][m], draw[i])
			}
		}
		d.say("%v, %d rows: %d draws", c.Shift, c.Rows, len(draws))
	}
	return all, accuracies, nil
}

// seedOf is the published seed of a network: 0, 10, 20 and so on.
func seedOf(network int) int64 { return 10 * int64(network) }

// inParallel calls f with 0 to n-1, as many at a time as parallel says, all cores where
// it is 0. It returns the first error, which cancels the context.
func inParallel(ctx context.Context, parallel, n int, f func(ctx context.Context, i int) error) error {
	if parallel < 1 {
		parallel = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(ctx, i)
		})
	}
	return group.Wait()
}

// draw returns a draw of a network: held-out rows without replacement, then target rows.
func (a *Alexandari) draw(c condition, seed int64, number int, p predictions, heldOutLabels []int, d *digits) drawn {
	random, source := stream(seed, "draw ", c.Shift, " ", c.Rows, " ", number)
	held := random.Perm(len(heldOutLabels))[:c.Rows]
	target := drawQuotas(random, d.testByClass, c.Shift.shares(source), c.Rows)
	return drawn{
		heldOut: selectedRows(p.heldOut, held), heldOutLabels: evenly.Pick(heldOutLabels, held),
		target: selectedRows(p.test, target), targetLabels: evenly.Pick(d.testLabels, target),
	}
}

// drawn is a draw: logits, row-major, and labels.
type drawn struct {
	heldOut, target             []float64
	heldOutLabels, targetLabels []int
}

// scores returns those of the methods, in their order. True weights are the ratios of
// the class shares in the two samples.
func (s drawn) scores(methods []method) ([]score, error) {
	want, err := weightest.Oracle(counts(s.heldOutLabels), counts(s.targetLabels))
	if err != nil {
		return nil, err
	}
	before := right(s.target, ones, s.targetLabels)
	calibrated := map[string]*weightest.Sample{}
	all := make([]score, len(methods))
	for i, m := range methods {
		sample := calibrated[m.Calibration]
		if sample == nil {
			if sample, err = s.calibrated(m.Calibration); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Calibration, err)
			}
			calibrated[m.Calibration] = sample
		}
		w, err := estimate(m.Estimator, sample)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", m.Estimator, m.Calibration, err)
		}
		gained := right(sample.Target(), w, s.targetLabels) - before
		all[i] = score{meanSquare(w, want), float64(gained) / float64(len(s.targetLabels))}
	}
	return all, nil
}

// calibrated returns the probabilities of both domains' rows by a calibration of that
// name, fitted to the held-out ones.
func (s drawn) calibrated(name string) (*weightest.Sample, error) {
	fitted, err := calibration.Calibrate(name, s.heldOut, s.heldOutLabels, classes)
	if err != nil {
		return nil, err
	}
	return weightest.SampleOf(len(fitted.Scales), fitted.Probabilities(s.heldOut), s.heldOutLabels, fitted.Probabilities(s.target))
}

// newEstimator returns rlls, or weightest's estimator of the name.
func newEstimator(name string) (weightest.Estimator, error) {
	switch name {
	case "rlls-hard":
		return weightest.Hard{Estimator: rlls{}}, nil
	case "rlls-soft":
		return rlls{}, nil
	}
	return weightest.NewEstimator(name)
}

func estimate(name string, sample *weightest.Sample) ([]float64, error) {
	estimator, err := newEstimator(name)
	if err != nil {
		return nil, err
	}
	problem, err := sample.Problem()
	if err != nil {
		return nil, err
	}
	estimated, err := estimator.Estimate(problem)
	return estimated.Weights, err
}

func counts(labels []int) []float64 {
	n := make([]float64, classes)
	for _, y := range labels {
		n[y]++
	}
	return n
}

// meanSquare returns the mean of (a - b)².
func meanSquare(a, b []float64) float64 {
	return math.Pow(weightest.Distance(a, b), 2) / float64(len(a))
}

// ones are the weights that change nothing.
var ones = slices.Repeat([]float64{1}, classes)

// accuracy returns the share of rows, logits or probabilities, whose largest value is
// that of their label.
func accuracy(values []float64, labels []int) float64 {
	return float64(right(values, ones, labels)) / float64(len(labels))
}

// right counts the rows whose largest value, multiplied by its class's weight, is that of
// their label. Of equal products the first counts.
func right(values, weights []float64, labels []int) int {
	n := 0
	for row, y := range labels {
		best, largest := 0, math.Inf(-1)
		for j, v := range values[row*classes : (row+1)*classes] {
			if product := v * weights[j]; product > largest {
				best, largest = j, product
			}
		}
		if best == y {
			n++
		}
	}
	return n
}

func (a *Alexandari) name() string { return a.Experiment }

func (a *Alexandari) run(ctx context.Context, d *digits, parallel int) (sheet.Sheet, error) {
	measured, accuracies, err := a.measure(ctx, d, parallel)
	if err != nil {
		return sheet.Sheet{}, err
	}
	return a.sheet(measured, accuracies), nil
}
