package measure

import (
	"context"
	"errors"

	"iwda/datasets"
	"iwda/experiments/domains"
	"iwda/experiments/store"
	"iwda/inference/classshares"
	"iwda/inference/selection"
	"iwda/internal/evenly"
	"iwda/weightest/calibration"
)

// Pass passes the rows of a set through a classifier once, and hands what it says of them to every taker in turn. It
// ends at the first error.
type Pass func(ctx context.Context, takers ...Taker) error

// Sets are those by which a run is measured.
type Sets struct {
	Test    Pass // of the target
	HeldOut Pass // rows of the source that training did not see; nil where none are held out, or Crossed has them
	Crossed *Crossed
}

// Crossed is what classifiers say, each of rows that it has not learnt from: of rows of the source, and
// of the target's judged rows.
type Crossed struct{ HeldOut, Target *Outputs }

// Observations are what a classifier says of the target's test rows and, where some are held
// out, of the source's.
type Observations struct {
	OnTest          Confusion
	predicted       *predictions
	heldOut, target *Outputs // heldOut is nil where none are
	compared        *Outputs // of the target's rows, by what spoke of heldOut
	validation      *store.Validation
	unlabelled      bool // no test row has a label
}

// Observe passes these rows through the classifier, and by a taker more.
func Observe(ctx context.Context, about *domains.About, sets Sets, also Taker) (*Observations, error) {
	k := len(about.Classes)
	holds := sets.HeldOut != nil || sets.Crossed != nil
	o := &Observations{OnTest: NewConfusion(k), predicted: newPredictions(k), unlabelled: about.Labels.Test.Known() == 0}
	if holds {
		o.target = &Outputs{Kept: store.JudgedRows(about.Labels.Test.Len())}
	} else {
		o.target = everyNth(about.Labels.Test.Len(), store.MostJudged)
	}
	if about.Groups.Test != nil {
		o.target.Groups = evenly.Pick(about.Groups.Test, o.target.Kept)
	}
	o.compared = o.target
	if err := sets.Test(ctx, also, o.OnTest, o.predicted, o.target); err != nil || !holds {
		return o, err
	}
	counts, loss := NewConfusion(k), &crossEntropy{}
	if sets.Crossed != nil {
		o.heldOut, o.compared = sets.Crossed.HeldOut, sets.Crossed.Target
		all := Batch{o.heldOut.Logits, datasets.KnownLabels(o.heldOut.Labels)}
		if err := errors.Join(counts.Take(all), loss.Take(all)); err != nil {
			return nil, err
		}
	} else {
		o.heldOut = &Outputs{Groups: about.Groups.HeldOut}
		if err := sets.HeldOut(ctx, also, counts, loss, o.heldOut); err != nil {
			return nil, err
		}
	}
	o.validation = &store.Validation{Rows: loss.rows, Accuracy: counts.Accuracy().Value, Loss: Mean(loss.sum, loss.rows).Value}
	return o, nil
}

// Describe sets in a line of metrics what is measured where target labels are missing, or
// where rows of the source are held out for it.
func (o *Observations) Describe(m *store.Metrics) {
	if o.unlabelled || o.heldOut != nil {
		m.Certainty = store.Measured(o.predicted.meanCertainty())
	}
	if v := o.validation; v != nil {
		m.ValidationAccuracy, m.ValidationLoss = store.Measured(v.Accuracy), store.Measured(v.Loss)
	}
}

// measuredCriteria are those that every evaluation measures: of a run by itself, and at next to
// no cost. Others need what all runs share, of which a run knows nothing; package judge computes
// them of what finished runs leave.
var measuredCriteria = []string{"source-accuracy-macro", "unexplained", "entropy", "im", "bnm", "mcc"}

// Criteria measures them after that step by logits that are calibrated on the held-out rows, and
// by the network's own if there are none. One that has no value here is left out, and the log says
// why: it must not end a run.
func (o *Observations) Criteria(step int, logf func(format string, args ...any)) map[string]float64 {
	as := classshares.Classifier{Calibration: calibration.Identity(o.target.Width)}
	var in selection.Input
	if o.heldOut != nil {
		var err error
		if as, err = classshares.Calibrate(o.target.Width, o.heldOut.rows(), o.heldOut.Labels, classshares.Settings{}); err != nil {
			logf("step %d: no criteria: %v", step, err)
			return nil
		}
		in.SourceLogits, in.SourceLabels = as.Logits(o.heldOut.rows()), o.heldOut.Labels
	}
	in.TargetLogits = as.Logits(o.compared.rows())
	values := map[string]float64{}
	for _, name := range measuredCriteria {
		criterion, err := selection.Find(name)
		if err != nil {
			panic(err)
		}
		value, err := criterion.Value(in)
		switch {
		case err == nil:
			values[name] = value
		case o.heldOut != nil || !errors.Is(err, selection.ErrMissing):
			logf("step %d: %v", step, err)
		}
	}
	return values
}
