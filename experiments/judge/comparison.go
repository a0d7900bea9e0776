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
	"iwda/selection"
	"iwda/weightest/shifttest"
)

// Comparison is the finished runs of a task beside each other, those of a method one after
// another, methods in the order in which one is to be preferred to those before it where they are
// as good.
type Comparison struct {
	Candidates []Candidate
	Shared     Shared
	Judged     []Judgement // by what no rule decides, in the candidates' order

	inputs []selection.Input // with calibrated logits and all that the candidates share
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

// New calibrates the candidates, of which there must be one, each on its held-out rows, so that
// being too sure decides nothing. What all share is estimated by the first run that aligns
// nothing, source-only, and by the first of all where there is none.
func New(candidates []Candidate) (*Comparison, error) {
	if len(candidates) == 0 {
		return nil, errors.New("there is no run to choose from")
	}
	n := len(candidates)
	c := &Comparison{Candidates: candidates, Judged: make([]Judgement, n), inputs: make([]selection.Input, n)}
	var logits []*mat.Dense
	for i, candidate := range candidates {
		var err error
		if c.inputs[i], err = candidate.input(); err != nil {
			return nil, err
		}
		logits = append(logits, c.inputs[i].TargetLogits)
	}
	votes, err := selection.Vote(logits)
	if err != nil {
		return nil, err
	}
	if err := c.share(); err != nil {
		return nil, err
	}
	for i, candidate := range candidates {
		in, j := &c.inputs[i], &c.Judged[i]
		in.ClassWeights, in.TargetShares, in.Votes = weightsOver(c.Shared.Target(), candidate.HeldOutLabels), c.Shared.Target(), votes
		j.Run = candidate.Run
		j.Shares, j.Certainty = selection.Predicted(in.TargetLogits)
		if known := candidate.Known; known != nil {
			j.LabelShiftP = known.LabelShiftP
		}
		if err := j.guard(*in); err != nil {
			return nil, fmt.Errorf("%s: %w", candidate.Run, err)
		}
	}
	return c, nil
}

// reference is the run that aligns nothing, the first of all where there is none.
func (c *Comparison) reference() Candidate {
	return c.Candidates[max(0, slices.IndexFunc(c.Candidates, func(c Candidate) bool { return !aligns(MethodOf(c.Run)) }))]
}

// share estimates what all candidates share.
func (c *Comparison) share() error {
	run := c.reference()
	fitted, err := run.Fit()
	if err != nil {
		return err
	}
	test, err := shifttest.LabelShiftTest(fitted.Sample, shifttest.LabelShiftSettings{Seed: 1, Detect: true})
	if err != nil {
		return fmt.Errorf("%s: %w", run.Run, err)
	}
	changed, err := shifttest.MeansTest(fitted.Sample)
	if err != nil {
		return fmt.Errorf("%s: %w", run.Run, err)
	}
	c.Shared = Shared{Run: run.Run, Shares: fitted, Test: test, Changed: changed.P}
	if run.Known != nil {
		c.Shared.Columns = run.Known.Columns
	}
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
