package judge

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/inference/trust"
	"iwda/internal/convert"
)

// Trust says what is known of what these runs predict together, with votes as in [Choice], corrected so, without a label of the
// target. A run that was aligned with the target cannot vouch for itself: it was made to look as if other
// class shares were all that is new. So the run that aligns nothing ([Shared]) speaks of all of them,
// with those of them that align nothing either.
func (c *Comparison) Trust(names []string, runs []int, votes []float64, correction Correction) trust.Known {
	e := trust.Evidence{Bootstrap: trust.Usual, Test: c.Shared.Test, AssumeLabelShift: c.Shared.AssumeLabelShift, Dependent: c.Shared.Dependent, Unfloored: c.Shared.Outside}
	if agree, found := c.Shared.evidence(); !agree && c.Shared.Columns != nil {
		e.Columns = found
		e.Selection, e.NoSelection = c.Shared.selection()
	}
	together, err := c.together(runs, votes, correction)
	if err != nil {
		return trust.Nothing(names, err.Error())
	}
	run := c.reference
	if Aligns(MethodOf(c.Candidates[run.run].Run)) {
		e.Dependent = "all runs were aligned with the target, and a run without alignment is needed"
	}
	by := trust.Classifier{Shares: c.Shared.Shares, HeldOut: run.heldOut(), Labels: run.HeldOutLabels, Rows: run.target(), OwnHeldOut: c.own(run.HeldOut, correction), Own: c.own(run.Target, correction)}
	return trust.Of(names, by, together, e)
}

// own returns what the reference predicts by its logits of some rows, corrected so.
func (c *Comparison) own(logits []float32, correction Correction) []int {
	return largest(c.Shared.Corrected(correction.Shares(c.Shared.SpeaksFor, c.Shared.Target())).Probabilities(convert.Slice[float64](logits)), c.reference.Classes)
}

// largest returns the class of the largest of each row's k values.
func largest(rows []float64, k int) (classes []int) {
	for row := range slices.Chunk(rows, k) {
		classes = append(classes, floats.MaxIdx(row))
	}
	return classes
}

// together returns what runs predict together of the target's rows: the classes of the largest mean probability, corrected
// so; the mean of plain probabilities of the runs that align nothing, if there are any; and what the same runs claim, each
// under the shares that it estimates.
func (c *Comparison) together(runs []int, votes []float64, correction Correction) (p trust.Predictions, err error) {
	k, size := c.Candidates[0].Classes, len(c.Candidates[0].Compared())
	mean, full := make([]float64, size), make([]float64, size)
	p.Plain = make([]float64, size)
	vouching := slices.DeleteFunc(slices.Clone(runs), func(i int) bool { return Aligns(MethodOf(c.Candidates[i].Run)) })
	if len(vouching) == 0 {
		vouching = []int{c.reference.run}
	}
	for _, i := range append(slices.Clone(runs), vouching...) {
		fitted, err := c.Fit(i)
		if err != nil {
			return p, err
		}
		if slices.Contains(fitted.SpeaksFor, 0) {
			return p, fmt.Errorf("%s: a class has no held-out row", c.Candidates[i].Run)
		}
	}
	vote := func(run int) float64 {
		if at := slices.Index(runs, run); votes != nil && at >= 0 {
			return votes[at]
		}
		return 1
	}
	for _, i := range runs {
		fitted, _ := c.Fit(i)
		floats.AddScaled(mean, vote(i), fitted.Corrected(correction.Shares(fitted.SpeaksFor, fitted.Target())).Probabilities(convert.Slice[float64](c.Candidates[i].Target)))
	}
	all := 0.0
	for _, i := range vouching {
		all += vote(i)
	}
	for _, i := range vouching {
		fitted, _ := c.Fit(i)
		logits := convert.Slice[float64](c.Candidates[i].Compared())
		floats.AddScaled(p.Plain, vote(i)/all, fitted.Probabilities(logits))
		floats.AddScaled(full, vote(i)/all, fitted.Corrected(fitted.Target()).Probabilities(logits))
	}
	p.Classes = largest(mean, k)
	for i, class := range p.Classes {
		p.Claimed += full[i*k+class] / float64(len(p.Classes))
	}
	return p, nil
}
