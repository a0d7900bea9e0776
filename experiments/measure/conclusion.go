// Package measure says what a run's classifier is worth and what can be known of the target without its
// labels: accuracies, criteria, calibration, class shares, and the description of the model that the run leaves.
// It needs the logits of rows, whatever computes them.
package measure

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets/normalise"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/inference/classshares"
	"iwda/internal/evenly"
	"iwda/internal/version"
	"iwda/nets/architecture"
	"iwda/weightest/shifttest"
)

// Finished is a run whose classifier is ready.
type Finished struct {
	Run    config.Resolved
	About  *domains.About
	Shares Shares
	Sets   Sets
	Source Pass // of the rows that are trained on
	Logf   func(format string, args ...any)
	Seen   *Observations // by these sets, if they were observed already
	// Columns hands over source rows with their labels, and rows of the target that are judged, of a classifier
	// that is made without steps, which tests whether its columns agree. It is nil for others, of which a network
	// would say the same.
	Columns func(ctx context.Context, source func(values []float32, classes []int), target func(values []float32)) error
}

// conclusion is what there is to say of the classifier of a run: its model, and what can be known of
// the target without its labels.
type conclusion struct {
	Finished
	// seen are the rows that the calibration, the target's class shares and all else that is
	// known without target labels follow from; nil where nothing asks for them.
	seen       *Observations
	how        classshares.Settings
	classifier *classshares.Classifier // nil if nothing is held out, or it cannot be calibrated
	shares     *classshares.Shares     // nil if they cannot be estimated either
	columns    *store.Columns          // whether they agree; nil if that is not asked
}

// conclude passes the rows that it takes through the classifier: where target labels are missing,
// or where rows of the source are held out for it. What cannot be had of them, the log says.
func conclude(ctx context.Context, f Finished, also Taker) (*conclusion, error) {
	c := &conclusion{Finished: f}
	if f.About.Labels.Test.Known() > 0 && f.Sets.HeldOut == nil && f.Sets.Crossed == nil {
		return c, nil
	}
	var err error
	if c.seen = f.Seen; c.seen == nil {
		c.seen, err = Observe(ctx, f.About, f.Sets, also)
	}
	if err != nil || c.seen.heldOut == nil {
		return c, err
	}
	k, heldOut := len(f.About.Classes), c.seen.heldOut
	c.how.Trained = f.Shares.Trained(f.Run)
	if f.Sets.Crossed != nil {
		c.how.Calibration = "ts" // the class shares that it speaks for, which nothing penalises, are right
	}
	classifier, err := classshares.Calibrate(k, heldOut.rows(), heldOut.Labels, c.how)
	if err != nil {
		f.Logf("probabilities are not calibrated: %v", err)
		return c, nil
	}
	if classifier.Note != "" {
		f.Logf("calibration: %s", classifier.Note)
	}
	c.classifier = &classifier
	if c.shares, err = classshares.Estimate(classifier, heldOut.rows(), heldOut.Labels, c.seen.compared.rows(), nil); err != nil {
		f.Logf("the target's class shares are those of the class weights: %v", err)
		return c, nil
	}
	return c, c.compareColumns(ctx)
}

// compareColumns asks whether the columns of both domains agree under the class shares that the classifier
// estimates.
func (c *conclusion) compareColumns(ctx context.Context) error {
	if c.Columns == nil {
		return nil
	}
	sums, err := shifttest.NewColumnSums(c.shares.Sample, c.shares.Target(), c.About.Shape[0])
	if err != nil {
		c.Logf("the columns are not compared: %v", err)
		return nil
	}
	left := c.About.Groups.Source // of rows that are not added yet
	addSource := func(values []float32, classes []int) {
		var groups []int
		if left != nil {
			groups, left = left[:len(classes)], left[len(classes):]
		}
		sums.AddSource(values, classes, groups)
	}
	if err := c.Columns(ctx, addSource, sums.AddTarget); err != nil {
		return err
	}
	found, err := sums.Test()
	if err != nil {
		c.Logf("the columns are not compared: %v", err)
		return nil
	}
	c.columns = &store.Columns{P: found.P, Odd: c.columnName(found.Column), Distance: found.Distance}
	// Whatever classifier asks, the answer is the same; so it is the linear one's, which tables have always.
	if found.P < shifttest.Significance && architecture.Name(c.Run.Network.Name) == architecture.Linear {
		return c.findSelection(ctx)
	}
	return nil
}

// Of so many columns one may have selected the target's rows. Of fewer two may have, which leave nearly nothing to compare;
// an array's have no meaning by which somebody would select, and each takes a comparison of all others.
const fewestSelecting, mostSelecting = 4, 64

// findSelection asks whether the target's rows were selected along one column.
func (c *conclusion) findSelection(ctx context.Context) error {
	columns := c.About.Encoding.Places()
	if columns == nil {
		columns = slices.Collect(slices.Chunk(evenly.All(c.About.Shape[0]), 1))
	}
	if len(columns) < fewestSelecting || len(columns) > mostSelecting {
		return nil
	}
	var source, target []float32
	err := c.Columns(ctx, func(values []float32, _ []int) { source = append(source, values...) }, func(values []float32) { target = append(target, values...) })
	if err != nil {
		return err
	}
	column, p, err := shifttest.SelectedAlong(source, target, columns, c.About.Groups.Source, c.seen.compared.Groups)
	if err != nil {
		c.Logf("no column is asked whether rows were selected along it: %v", err)
		return nil
	}
	c.columns.Selected, c.columns.SelectedP = c.columnName(columns[column][0]), p
	if c.About.Encoding != nil {
		c.columns.Selected = c.About.Encoding[column].Column
	}
	return nil
}

// columnName is that of a value of a row, its number from 0 where columns have no names.
func (c *conclusion) columnName(at int) string {
	if c.About.Columns == nil {
		return strconv.Itoa(at)
	}
	return c.About.Columns[at]
}

// Conclude completes a result, which says already what was trained how, and writes what the classifier says into the
// run's folder. Describe completes and writes the description of the model, whose architecture, input and versions
// are the caller's. also takes all that is observed.
func (f Finished) Conclude(ctx context.Context, dir store.Dir, result *store.Result, about model.Metadata, also Taker, write func(model.Metadata) error) error {
	onSource := NewConfusion(len(f.About.Classes))
	if err := f.Source(ctx, onSource); err != nil {
		return err
	}
	run := plan.Of(f.Run)
	result.ID, result.Experiment, result.ConfigHash = run.ID.String(), f.Run.Experiment, f.Run.Hash()
	result.Variant, result.Task, result.Method, result.Seed = f.Run.Variant, f.Run.Task, f.Run.Method, f.Run.Seed
	result.DataSHA256, result.Unpublished, result.Classes = f.About.SHA256, f.About.Unpublished, f.About.Classes
	result.SourceConfusion, result.Versions = onSource, about.Versions
	f.Shares.conclude(result)
	c, err := conclude(ctx, f, also)
	if err != nil {
		return err
	}
	c.describe(&about)
	if err := write(about); err != nil {
		return err
	}
	if err := c.writeOutputs(dir); err != nil {
		return err
	}
	result.WithoutLabels = c.withoutLabels()
	result.CorrectedAccuracy, err = f.correctedAccuracy(ctx, about)
	return err
}

// describe sets in the description of the model what follows from the data. With held-out source rows it is calibrated
// on these, and the target's class shares are those under which its calibrated probabilities of the target's test rows
// are most likely; without, they follow from the class weights.
func (c *conclusion) describe(m *model.Metadata) {
	m.Classes = c.About.Classes
	m.Provenance = map[string]string{"run": plan.Of(c.Run).ID.String(), "experiment": c.Run.Experiment, "config_hash": c.Run.Hash()}
	m.Shares = model.Shares{Source: c.Shares.Source, Target: c.Shares.Estimate(), Classifier: c.Shares.Trained(c.Run)}
	if c.Shares.Known != nil {
		m.Shares.Target = c.Shares.Known
	}
	if c.classifier == nil {
		return
	}
	m.Calibration = &model.Calibration{Form: c.classifier.Form, Scales: c.classifier.Scales, Biases: c.classifier.Biases}
	m.Shares.Classifier = c.classifier.SpeaksFor
	if slices.Contains(m.Shares.Classifier, 0) { // a class that is in no held-out row
		m.Shares.Classifier = c.how.Trained
	}
	if c.shares != nil && c.Shares.Known == nil {
		m.Shares.Target = c.shares.Target()
	}
}

// Input is what a row of features is, for the description of a model.
func Input(run config.Resolved, about *domains.About) model.Input {
	in := model.Input{Kind: model.Features, Shape: about.Shape, Columns: about.Columns, Encoding: about.Encoding, Origins: about.Origins, Decimal: about.Decimal}
	_, target := run.Domains()
	for _, files := range run.Dataset.Domains {
		if files.Domain == target {
			in.IDColumn = files.ID
		}
	}
	return in
}

// writeOutputs leaves what the classifier says of held-out rows, if there are any, and of the target's.
func (c *conclusion) writeOutputs(dir store.Dir) error {
	if c.seen == nil || c.seen.heldOut == nil {
		return nil
	}
	heldOut, target := c.seen.heldOut, c.seen.target
	outputs := store.Outputs{
		Classes: len(c.About.Classes), HeldOut: heldOut.Logits, HeldOutLabels: heldOut.Labels,
		Target: target.Logits, TargetLabels: target.Labels,
		HeldOutGroups: heldOut.Groups, TargetGroups: target.Groups, HeldOutRows: heldOut.Rows,
	}
	if c.seen.compared != target {
		outputs.TargetCrossed = c.seen.compared.Logits
	}
	return dir.WriteOutputs(outputs)
}

// withoutLabels is what can be known without target labels at the end of the run, nil
// where that is not asked for.
func (c *conclusion) withoutLabels() *store.WithoutLabels {
	if c.seen == nil {
		return nil
	}
	known := &store.WithoutLabels{
		PredictedShares: c.seen.predicted.shares(), EstimatedShares: c.Shares.Estimate(), Certainty: c.seen.predicted.meanCertainty(),
		Validation: c.seen.validation, OwnStatistics: c.Run.Network.Normalise == normalise.Standard, TrainedShares: c.how.Trained, Calibration: c.how.Calibration,
	}
	if c.shares == nil {
		return known
	}
	known.LikelyShares = c.shares.Target()
	if test, err := c.shares.TestLabelShift(shifttest.LabelShiftSettings{Seed: 1}); err != nil {
		c.Logf("the test of label shift: %v", err)
	} else if test.Tested() {
		known.LabelShiftP = store.Measured(test.P)
	}
	known.Columns = c.columns
	return known
}

// correctedAccuracy is that of predictions of the test rows, if any of them has a label
// and the target's class shares have been estimated.
func (f Finished) correctedAccuracy(ctx context.Context, about model.Metadata) (store.Optional[float64], error) {
	if f.About.Labels.Test.Known() == 0 || about.Shares.Target == nil {
		return store.Optional[float64]{}, nil
	}
	corrected := correctedConfusion{NewConfusion(len(about.Classes)), about}
	if err := f.Sets.Test(ctx, corrected); err != nil {
		return store.Optional[float64]{}, err
	}
	return corrected.Accuracy(), nil
}

// correctedConfusion counts the labelled rows by class and by the class of the largest
// probability, corrected for the target's estimated class shares, as predictions are.
type correctedConfusion struct {
	Confusion
	about model.Metadata
}

func (c correctedConfusion) Take(b Batch) error {
	probabilities, err := c.about.Probabilities(b.Logits, c.about.Shares.Target)
	if err != nil {
		return err
	}
	k := len(c.about.Classes)
	for i := range b.Labels.Len() {
		if class, known := b.Labels.At(i); known {
			c.Confusion[class][floats.MaxIdx(probabilities[i*k:(i+1)*k])]++
		}
	}
	return nil
}

// Versions are those of this program.
func Versions() map[string]string {
	return map[string]string{"iwda": version.Version, "go": runtime.Version()}
}

// Machine describes what computes in a line: cores and system.
func Machine() string {
	return fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
}
