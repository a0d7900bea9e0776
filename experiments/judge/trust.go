package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/classshares"
	"iwda/floor"
	"iwda/internal/evenly"
	"iwda/weightest"
)

// Trust is what is known, without a label of the target, of the accuracy of what several runs
// predict together. A run that was aligned with the target cannot vouch for itself: it was made to
// look as if other class shares were all that is new. So the run that aligns nothing ([Shared])
// speaks of all of them.
type Trust struct {
	// Expected is the accuracy to expect, and Confident a second opinion about it
	// ([classshares.Shares.Confident]). Expected is nil if Untold has the reason for which no such
	// number is to be believed.
	Expected  *classshares.Accuracy
	Confident float64
	Untold    string
	// Floor is what the accuracy is at least, by package floor; nil if Unfloored has the reason. If
	// somebody has said that only class shares changed, but no test could have contradicted it, Floor is the
	// lower end of the interval that an expected accuracy would have, and Vouched is true. The upper end does
	// not hold often enough; see research/suite/told.md.
	Floor     *floor.Floor
	Unfloored string
	Vouched   bool
}

// Unless says when the floor does not hold, a clause.
func (t Trust) Unless() string {
	if t.Vouched {
		return "more than the class shares differ"
	}
	return "rows like the source's have other classes in the target"
}

// furthest is how far two opinions of the same predictions may be apart.
const furthest = 0.05

// Trust says how far what these runs predict together, corrected so, can be relied on. The expected
// accuracy is the mean of the probabilities that the runs give their predictions together, in which
// the mistakes of one are made up for by the others. Its interval is that of the mean of the
// probabilities that the run which aligns nothing gives them, stretched by the distance between both.
func (c *Comparison) Trust(runs []int, correction Correction) Trust {
	var t Trust
	if aligns(MethodOf(c.Shared.Run)) {
		const none = "all runs were aligned with the target, and a run without alignment is needed"
		t.Untold, t.Unfloored = none, none
		return t
	}
	together, err := c.together(runs, correction)
	if err != nil {
		t.Untold, t.Unfloored = err.Error(), err.Error()
		return t
	}
	if c.Shared.Dependent != "" {
		t.Unfloored = c.Shared.Dependent
	} else if t.Floor, err = c.floorOf(together.classes); err != nil {
		t.Unfloored = err.Error()
	}
	if err := c.expect(&t, together); err != nil {
		t.Expected, t.Untold = nil, err.Error()
	}
	return t
}

// expect sets what is expected of predictions, or the error is why nothing is.
func (c *Comparison) expect(t *Trust, of predicted) error {
	own, err := c.Shared.Correct(0, len(of.classes))
	if err != nil {
		return err
	}
	run, name := c.Candidates[c.reference()], MethodOf(c.Shared.Run)
	k, right, opinion, differ := run.Classes, 0.0, 0.0, 0.0
	for i, class := range of.classes {
		row, share := own[i*k:(i+1)*k], 1/float64(len(of.classes))
		if floats.MaxIdx(row) != class {
			differ += share
		}
		right, opinion = right+share*floats.Max(row), opinion+share*row[class]
	}
	if why := c.Shared.Withheld(); why != "" {
		return errors.New(why)
	}
	if allowed := 2 - right - of.claimed; differ > allowed {
		return fmt.Errorf("the predictions differ from those of %s on %.1f%% of the rows, but their expected errors allow for only %.1f%%", name, 100*differ, 100*allowed)
	}
	apart := of.claimed - opinion
	if math.Abs(apart) > furthest {
		return fmt.Errorf("two estimates of the accuracy are more than %.0f points apart: %.1f%% by %s, %.1f%% by the runs that predict", 100*furthest, 100*opinion, name, 100*of.claimed)
	}
	expected, err := classshares.ExpectAccuracy(k, run.heldOut(), run.HeldOutLabels, run.target(), of.classes, run.settings(), classshares.AccuracySettings{Seed: 1})
	if err != nil {
		return err
	}
	// What was fitted to chance is the same in both.
	t.Expected = &classshares.Accuracy{Value: min(1, expected.Value+apart), Low: max(0, expected.Low+min(0, apart)), High: min(1, expected.High+max(0, apart))}
	if untested := classshares.Withheld(c.Shared.Test); untested != "" {
		if low := t.Expected.Low; low > 1/float64(k) {
			t.Floor, t.Unfloored, t.Vouched = &floor.Floor{Value: low}, "", true
		}
		return errors.New(untested)
	}
	t.Confident, err = c.Shared.Confident(of.classes)
	return err
}

// predicted is what runs say together of the target's rows.
type predicted struct {
	classes []int   // of the largest mean probability, as it is corrected
	claimed float64 // mean probability of these classes under the shares that each run estimates
}

// together returns what runs predict together, corrected so.
func (c *Comparison) together(runs []int, correction Correction) (predicted, error) {
	k := c.Candidates[0].Classes
	mean, full := make([]float64, len(c.Candidates[0].Target)), make([]float64, len(c.Candidates[0].Target))
	for _, i := range runs {
		fitted, err := c.Fit(i)
		if err != nil {
			return predicted{}, err
		}
		if slices.Contains(fitted.SpeaksFor, 0) {
			return predicted{}, fmt.Errorf("%s: a class has no held-out row", c.Candidates[i].Run)
		}
		logits := weightest.Widen(c.Candidates[i].Target)
		floats.Add(mean, fitted.Corrected(correction.Shares(fitted.SpeaksFor, fitted.Target())).Probabilities(logits))
		floats.Add(full, fitted.Corrected(fitted.Target()).Probabilities(logits))
	}
	p := predicted{classes: make([]int, len(mean)/k)}
	for i := range p.classes {
		class := floats.MaxIdx(mean[i*k : (i+1)*k])
		p.classes[i] = class
		p.claimed += full[i*k+class] / float64(len(runs)*len(p.classes))
	}
	return p, nil
}

// floorOf returns the floor of the accuracy of predictions. Its critic reads the logits of the run
// that aligns nothing, which stands for the predictions on the source. A floor that guessing
// reaches is an error.
func (c *Comparison) floorOf(classes []int) (*floor.Floor, error) {
	run, k := c.Candidates[c.reference()], c.Candidates[0].Classes
	most := floor.MostRows(k, k)
	heldOut, target := run.heldOut().Evenly(k, most), run.target().Evenly(k, most)
	features := func(rows classshares.Rows) *mat.Dense {
		return mat.NewDense(len(rows.Values)/k, k, weightest.Widen(rows.Values))
	}
	s := floor.Source{Features: features(heldOut), Labels: evenly.Of(run.HeldOutLabels, most)}
	if slices.Contains(c.Shared.SpeaksFor, 0) {
		return nil, fmt.Errorf("%s: a class has no held-out row", run.Run)
	}
	probabilities := c.Shared.Corrected(c.Shared.Target()).Probabilities(weightest.Widen(heldOut.Values))
	for i, label := range s.Labels {
		s.Predicted = append(s.Predicted, floats.MaxIdx(probabilities[i*k:(i+1)*k]))
		s.Weights = append(s.Weights, c.Shared.Estimate.Weights[label])
	}
	f, err := floor.Of(k, s, floor.Target{Features: features(target), Predicted: evenly.Of(classes, most)})
	if err == nil && f.Value <= 1/float64(k) {
		err = fmt.Errorf("the floor of %.1f%% is no higher than the accuracy of guessing one of %d classes", 100*f.Value, k)
	}
	if err != nil {
		return nil, err
	}
	return &f, nil
}
