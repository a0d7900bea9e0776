package judge

import (
	"fmt"
	"path"

	"iwda/datasets"
	"iwda/experiments/store"
	"iwda/inference/classshares"
	"iwda/inference/selection"
	"iwda/weightest"
	"iwda/weightest/shifttest"
)

// Candidate is a finished run as it is judged: what its last network says of held-out
// source rows, on which it was not trained, and of the target's rows. The labels of the latter
// serve to measure alone.
type Candidate struct {
	Run string // its id
	store.Outputs
	// Known is what the run knows of itself without target labels; it may be nil.
	Known *store.WithoutLabels
}

// Read reads what a finished run says of both domains. The error wraps fs.ErrNotExist where it
// held no source rows out.
func Read(run store.Run) (Candidate, error) {
	o, err := run.Dir.ReadOutputs()
	if err != nil {
		return Candidate{}, err
	}
	if len(o.HeldOut) == 0 || len(o.Target) == 0 {
		return Candidate{}, fmt.Errorf("%s: no rows of one domain", run.Dir.Path(store.OutputsFile))
	}
	return Candidate{Run: run.Result.ID, Outputs: o, Known: run.Result.WithoutLabels}, nil
}

// MethodOf returns the name of a run's method, by the run's id.
func MethodOf(run string) string { return path.Base(path.Dir(run)) }

// settings are those by which it is calibrated.
func (c Candidate) settings() (how classshares.Settings) {
	if c.Known != nil {
		how.Trained, how.Calibration = c.Known.TrainedShares, c.Known.Calibration
	}
	return how
}

func (c Candidate) heldOut() classshares.Rows {
	return classshares.Rows{Values: c.HeldOut, Groups: c.HeldOutGroups}
}

func (c Candidate) target() classshares.Rows {
	return classshares.Rows{Values: c.Compared(), Groups: c.TargetGroups}
}

// calibrate returns the candidate's classifier, calibrated on its held-out rows.
func (c Candidate) calibrate() (classshares.Classifier, error) {
	classifier, err := classshares.Calibrate(c.Classes, c.heldOut(), c.HeldOutLabels, c.settings())
	if err != nil {
		err = fmt.Errorf("%s: calibration on held-out source rows: %w", c.Run, err)
	}
	return classifier, err
}

// estimate returns the target's class shares by what the calibrated candidate says.
func (c Candidate) estimate(by classshares.Classifier) (*classshares.Shares, error) {
	return classshares.Estimate(by, c.heldOut(), c.HeldOutLabels, c.target(), nil)
}

// input is what criteria read of the candidate: its calibrated logits.
func (c Candidate) input(by classshares.Classifier) selection.Input {
	return selection.Input{SourceLogits: by.Logits(c.heldOut()), SourceLabels: c.HeldOutLabels, TargetLogits: by.Logits(c.target())}
}

// Shared is what one model, which all candidates share, says of the target's class
// shares. Estimated by each candidate itself, they would suit the candidate: a classifier
// that has collapsed explains itself perfectly.
type Shared struct {
	Run string
	*classshares.Shares
	// Test asks whether what the model says of the target contradicts that only class shares
	// changed; if so, these shares are to be read with care. It and Changed are known after
	// [Comparison.TestShift].
	Test shifttest.LabelShift
	// AssumeLabelShift is whether somebody has said that only class shares changed.
	AssumeLabelShift bool
	// Dependent says why rows are not independent, though nobody says which belong together: then nothing
	// that counts rows is to be believed. "" if nothing was seen.
	Dependent string
	// Outside says why no floor holds, as target rows lie where no source row does; "" if none was seen.
	Outside string
	// Changed is the p-value of the test that classes are as probable in both domains on average
	// ([shifttest.MeansTest]).
	Changed float64
	// Columns tell whether these agree under the shares; nil of a network.
	Columns *store.Columns
}

// weightsOver returns the class weights q over the shares of these labels, so that the mean of
// weighted losses is Σ_y q_y times the mean loss of class y. A class without a row, whose loss
// nobody knows, has 0.
func weightsOver(q []float64, labels []int) []float64 {
	return weightest.Ratios(q, datasets.KnownLabels(labels).Shares(len(q)))
}
