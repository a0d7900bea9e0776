// Package judge compares the finished runs of a task without labels of its target, and chooses
// one of them.
//
// Each run is judged by what its last network says of held-out source rows and of the target
// (outputs.safetensors), calibrated on the former, and by what all of them share: the target's
// class shares, which one of the runs estimates, and the vote of all. iwrun adapt asks
// [Comparison.Together], or [Comparison.Choose] if the experiment names a rule, as iwrun table --kind
// selection does for every rule.
package judge

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/experiments/store"
	"iwda/inference/classshares"
	"iwda/inference/selection"
	"iwda/internal/evenly"
	"iwda/weightest/shifttest"
)

// Comparison is the finished runs of a task beside each other, those of a method one after
// another, methods in the order in which one is to be preferred to those before it where they are
// as good.
type Comparison struct {
	Candidates []Candidate
	Shared     Shared
	Judged     []Judgement // by what no rule decides, in the candidates' order
	Absent     []string    // methods that were not trained because they could not predict

	classifiers []classshares.Classifier // calibrated
	reference   reference
	inputs      []selection.Input     // with calibrated logits and all that the candidates share
	fitted      []*classshares.Shares // of those of which [Comparison.Fit] was asked
}

// Judgement is what is known of a candidate without a label of the target.
type Judgement struct {
	Run            string
	Value          float64   // of the rule that chooses; NaN where it could not judge the candidate
	SourceAccuracy float64   // on its held-out source rows
	Certainty      float64   // mean largest probability on the target, calibrated
	Shares         []float64 // mean probabilities on the target, calibrated
	// Unexplained is the share of the target's predictions that no mixture of the source's
	// classes explains; 0 where changed class shares are all that is new.
	Unexplained float64
	// Divergence is KL(p̄ ‖ q) of its predicted class shares p̄ to the shared estimate
	// q, and Agreement the share of target rows on which it predicts what all candidates
	// together do: guards against a candidate that is far from all the others.
	Divergence, Agreement float64
	// LabelShiftP is the p-value of the test that label shift explains what the run itself
	// predicts; not measured where there were too few rows.
	LabelShiftP store.Optional[float64]
}

// New calibrates the candidates, each on its held-out rows, so that being too sure decides nothing.
// It leaves out those whose rows allow no calibration, and returns why; that none is left is an
// error. What all share is estimated by the first run that aligns nothing, source-only, and by the
// first of all where there is none.
func New(candidates []Candidate) (c *Comparison, leftOut []error, err error) {
	if len(candidates) == 0 {
		return nil, nil, errors.New("there is no run to choose from")
	}
	c = new(Comparison)
	var logits []*mat.Dense
	for _, candidate := range candidates {
		classifier, err := candidate.calibrate()
		if err != nil {
			leftOut = append(leftOut, err)
			continue
		}
		input := candidate.input(classifier)
		c.Candidates, c.classifiers, c.inputs = append(c.Candidates, candidate), append(c.classifiers, classifier), append(c.inputs, input)
		logits = append(logits, input.TargetLogits)
	}
	if len(c.Candidates) == 0 {
		return nil, nil, leftOut[0]
	}
	votes, err := selection.Vote(logits)
	if err != nil {
		return nil, nil, err
	}
	c.Judged, c.fitted = make([]Judgement, len(c.Candidates)), make([]*classshares.Shares, len(c.Candidates))
	if err := c.share(); err != nil {
		return nil, nil, err
	}
	for i, candidate := range c.Candidates {
		in, j := &c.inputs[i], &c.Judged[i]
		in.ClassWeights, in.TargetShares, in.Votes = weightsOver(c.Shared.Target(), candidate.HeldOutLabels), c.Shared.Target(), votes
		j.Run = candidate.Run
		j.Shares, j.Certainty = selection.Predicted(in.TargetLogits)
		if known := candidate.Known; known != nil {
			j.LabelShiftP = known.LabelShiftP
		}
		if err := j.guard(*in); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", candidate.Run, err)
		}
	}
	return c, leftOut, nil
}

// Judges tells whether the run of that id is among the candidates.
func (c *Comparison) Judges(run string) bool {
	return slices.ContainsFunc(c.Candidates, func(c Candidate) bool { return c.Run == run })
}

// Fit estimates the target's class shares by what the candidate of that index says itself, once.
func (c *Comparison) Fit(i int) (*classshares.Shares, error) {
	if c.fitted[i] == nil {
		run := c.Candidates[i]
		fitted, err := run.estimate(c.classifiers[i])
		if err != nil {
			return nil, fmt.Errorf("%s: the target's class shares: %w", run.Run, err)
		}
		c.fitted[i] = fitted
	}
	return c.fitted[i], nil
}

// reference is what speaks of all candidates: the run that aligns nothing, the first of all where there is none,
// or all such runs together if no run makes steps and they have judged the same source rows.
type reference struct {
	Candidate
	run int // of the candidates, the first if there are several
}

// share estimates what all candidates share.
func (c *Comparison) share() (err error) {
	plain := func(i int) bool { return !Aligns(MethodOf(c.Candidates[i].Run)) && !c.ownBeside(i) }
	first := max(0, slices.IndexFunc(evenly.All(len(c.Candidates)), plain))
	c.reference = reference{c.Candidates[first], first}
	c.Shared = Shared{Run: c.Candidates[first].Run}
	if known := c.Candidates[first].Known; known != nil {
		c.Shared.Columns = known.Columns
	}
	stacked := slices.DeleteFunc(evenly.All(len(c.Candidates)), func(i int) bool { return !plain(i) })
	if c.anySteps(evenly.All(len(c.Candidates))) {
		stacked = nil
	}
	votes, rows, _, err := c.stack(stacked)
	if err != nil {
		return err
	}
	if votes == nil {
		c.Shared.Shares, err = c.Fit(first)
		return err
	}
	c.reference.Candidate = c.mixed(stacked, votes, rows)
	c.Shared.Run = c.reference.Run
	classifier, err := c.reference.calibrate()
	if err == nil {
		c.Shared.Shares, err = c.reference.estimate(classifier)
	}
	return err
}

// TestShift tests whether only class shares changed, and whether they did, as
// [Comparison.Together] and [Comparison.Trust] need it. It takes minutes of hundreds of classes.
func (c *Comparison) TestShift() (err error) {
	settings := shifttest.LabelShiftSettings{Seed: 1}
	if c.Shared.Columns != nil {
		settings.Beside = 1
	}
	if c.Shared.Test, err = c.Shared.TestLabelShift(settings); err != nil {
		return fmt.Errorf("%s: %w", c.Shared.Run, err)
	}
	changed, err := shifttest.MeansTest(c.Shared.Sample)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Shared.Run, err)
	}
	c.Shared.Changed = changed.P
	return nil
}

// guard adds the values of criteria that stand beside the rule.
func (j *Judgement) guard(in selection.Input) error {
	for _, beside := range []struct {
		name  string
		value *float64
	}{{"source-accuracy", &j.SourceAccuracy}, {"unexplained", &j.Unexplained}, {"prior-divergence", &j.Divergence}, {"ensv", &j.Agreement}} {
		criterion, err := selection.Find(beside.name)
		if err != nil {
			return err
		}
		if *beside.value, err = criterion.Value(in); err != nil {
			return err
		}
	}
	return nil
}
