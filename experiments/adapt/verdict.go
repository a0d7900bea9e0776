package adapt

import (
	"fmt"
	"math"

	"iwda/experiments/judge"
)

// Verdict is what of an outcome can be relied on.
type Verdict struct {
	Reliable string `json:"reliable"` // one of the texts below
	Because  string `json:"because"`
	Next     string `json:"next,omitempty"` // what to do if nothing can be
}

// What can be relied on.
const (
	Both        = "shares and predictions"
	Shares      = "shares"
	Predictions = "predictions"
	Neither     = "neither"
)

// evidence is what a verdict follows from.
type evidence struct {
	judge.Trust
	shared judge.Shared // what the run that aligns nothing says
	// widest is the width of the widest interval of a class share, NaN if there are none, and
	// apart how far a share is at most from what that run estimates.
	widest, apart float64
	labels        *LabelChoice // nil unless labels chose
	measured      *Measured    // nil without labels
}

// What a verdict asks for; docs/howto/trust.md has it in words.
const (
	widestInterval = 0.2
	furthestApart  = 0.1
	rightEnough    = 0.7 // of the predictions
)

// verdict says what can be relied on. Shares can, if nothing was found against other class shares
// alone by a test that finds what matters, intervals are narrow, and the run that aligns nothing
// says the same. Predictions can, if the least that is expected to be right is enough, or the floor,
// which does not count if the test rejects: rows like the source's may then have other classes.
// research/suite/sixth.md has how often it was wrong.
// Labels that chose what predicts say how much is right in the place of both, and so do those that all
// rows have; those that some have may be no random draw, and decide nothing.
func (e evidence) verdict() Verdict {
	against, accuracy, enough := e.againstShares(), "", false
	more := "label the rows of to_label.csv"
	switch {
	case e.measured.all():
		accuracy = fmt.Sprintf("%.1f%% of the predictions are right, according to the labels of all rows", 100*e.measured.Value)
		enough = e.measured.Value >= rightEnough
	case e.labels != nil:
		right := e.labels.Accuracy
		accuracy = fmt.Sprintf("according to %d labels, %.1f%% of the predictions are right (%.1f to %.1f%%)", e.labels.Labels, 100*right.Value, 100*right.Low, 100*right.High)
		enough, more = right.Low >= rightEnough, "label more rows"
	case e.Expected != nil:
		accuracy = fmt.Sprintf("%.1f%% of the predictions should be right (%.1f to %.1f%%)", 100*e.Expected.Value, 100*e.Expected.Low, 100*e.Expected.High)
		enough = e.Expected.Low >= rightEnough
	case e.Floor != nil:
		accuracy = fmt.Sprintf("at least %.0f%% of the predictions should be right, unless %s", math.Floor(100*e.Floor.Value), e.Unless())
	case e.measured != nil:
		accuracy = fmt.Sprintf("%d of the %d predictions with a label are right, but these rows may not be a random sample", e.measured.Right, e.measured.Labels)
	default:
		accuracy = "how many predictions are right is not known"
	}
	enough = enough || !e.measured.all() && e.labels == nil && e.Floor != nil && e.Floor.Value >= rightEnough && !e.shared.Test.Rejected()
	about := against
	if against == "" {
		if about = e.shared.Test.Verdict(); e.shared.Told {
			about = "you said that only the class shares differ, and the test found nothing against it"
			if !e.shared.Test.Tested() {
				about = "you said that only the class shares differ, and it could not be tested"
			}
		}
	}
	v := Verdict{Because: about + "; " + accuracy}
	switch {
	case against == "" && enough:
		v.Reliable = Both
	case against == "":
		v.Reliable = Shares
	case enough:
		v.Reliable = Predictions
	default:
		v.Reliable = Neither
		if !e.measured.all() {
			v.Next = more + " and run iwrun evaluate, which says how many predictions are right"
		}
	}
	return v
}

// againstShares says why the class shares cannot be relied on, "" if they can.
func (e evidence) againstShares() string {
	switch why := e.shared.Withheld(); {
	case why != "":
		return why
	case !(e.widest <= widestInterval):
		if math.IsNaN(e.widest) {
			return "the class shares have no intervals"
		}
		return fmt.Sprintf("the interval of a class share is %.0f points wide, more than %.0f", 100*e.widest, 100*widestInterval)
	case e.apart > furthestApart:
		return fmt.Sprintf("the methods' estimates of a class share differ by %.0f points, more than %.0f", 100*e.apart, 100*furthestApart)
	}
	return ""
}

// claim is what can be relied on, in words.
func (v Verdict) claim() string {
	return map[string]string{
		Both: "the class shares and the predictions can be relied on", Shares: "the class shares can be relied on, but not the predictions",
		Predictions: "the predictions can be relied on, but not the class shares", Neither: "neither the class shares nor the predictions can be relied on",
	}[v.Reliable]
}

// String is the verdict in a line.
func (v Verdict) String() string {
	line := fmt.Sprintf("Verdict: %s: %s.", v.claim(), v.Because)
	if v.Next != "" {
		line += " To know more, " + v.Next + "."
	}
	return line
}

// verdict is that of the conclusion.
func (o conclusion) verdict() Verdict {
	e := evidence{Trust: o.Trust, shared: o.Shared, labels: o.labels, measured: o.measured}
	for _, c := range o.Classes {
		e.apart = max(e.apart, math.Abs(c.TargetShare-c.ReferenceShare))
		if c.TargetInterval == nil {
			e.widest = math.NaN()
			continue
		}
		e.widest = max(e.widest, c.TargetInterval.High-c.TargetInterval.Low) // NaN stays
	}
	return e.verdict()
}
