package adapt

import (
	"math"
	"strings"
	"testing"

	"iwda/classshares"
	"iwda/evaluation"
	"iwda/experiments/judge"
	"iwda/experiments/labels"
	"iwda/floor"
	"iwda/weightest/shifttest"
)

// What can be relied on, and because of what.
func TestVerdict(t *testing.T) {
	const rejected, found, nothing = 0.01, 0.03, 0.08
	expected := func(value, low float64) *classshares.Accuracy {
		return &classshares.Accuracy{Value: value, Low: low, High: value + 0.02}
	}
	for name, c := range map[string]struct {
		p, loss, widest, apart float64
		expected               *classshares.Accuracy
		floor                  float64 // negative for none
		reliable, because      string
	}{
		"all is well":               {0.4, found, 0.1, 0.02, expected(0.9, 0.88), 0.8, Both, "the test found nothing against label shift (p = 0.40); it would have found a loss of accuracy of 3 points or more; 90.0% of the predictions should be right (88.0 to 92.0%)"},
		"few right":                 {0.4, found, 0.1, 0.02, expected(0.65, 0.6), 0.5, Shares, "65.0% of the predictions should be right (60.0 to 67.0%)"},
		"few right at least":        {0.4, found, 0.1, 0.02, expected(0.75, 0.69), 0.5, Shares, "75.0%"},
		"rejected, high floor":      {rejected, found, 0.1, 0.02, nil, 0.719, Neither, "more than the class shares changed in the target (test of label shift, p = 0.01); at least 71% of the predictions should be right, unless rows like the source's have other classes in the target"},
		"rejected, low floor":       {rejected, found, 0.1, 0.02, nil, 0.69, Neither, "more than the class shares changed in the target (test of label shift, p = 0.01); at least 69%"},
		"too few rows for the test": {0.4, nothing, 0.1, 0.02, nil, 0.8, Predictions, "it would have missed a loss of accuracy of less than 8 points"},
		"the test finds nothing":    {0.4, math.NaN(), 0.1, 0.02, nil, 0.5, Neither, "it could have missed even a large loss of accuracy"},
		"nothing tested":            {math.NaN(), math.NaN(), 0.1, 0.02, nil, 0.5, Neither, "too few source rows"},
		"wide intervals":            {0.4, found, 0.3, 0.02, expected(0.9, 0.88), 0.8, Predictions, "the interval of a class share is 30 points wide, more than 20; 90.0%"},
		"no intervals":              {0.4, found, math.NaN(), 0.02, expected(0.9, 0.88), 0.8, Predictions, "the class shares have no intervals"},
		"candidates differ":         {0.4, found, 0.1, 0.15, nil, 0.5, Neither, "the methods' estimates of a class share differ by 15 points, more than 10;"},
		"told, too few rows":        {0.4, nothing, 0.1, 0.02, expected(0.9, 0.88), 0.5, Both, "you said that only the class shares differ, and the test found nothing against it; 90.0%"},
		"told, nothing tested":      {math.NaN(), math.NaN(), 0.1, 0.02, nil, 0.5, Shares, "you said that only the class shares differ, and it could not be tested; "},
		"told, rejected":            {rejected, found, 0.1, 0.02, nil, 0.8, Neither, "more than the class shares changed in the target"},
		"no floor":                  {rejected, found, 0.1, 0.02, nil, -1, Neither, "how many predictions are right is not known"},
	} {
		test := shifttest.LabelShift{DegreesOfFreedom: 6, P: c.p, Detectable: c.loss}
		if math.IsNaN(c.p) {
			test = shifttest.LabelShift{P: 1}
		}
		told := strings.HasPrefix(name, "told")
		e := evidence{Trust: judge.Trust{Expected: c.expected}, shared: judge.Shared{Test: test, Told: told}, widest: c.widest, apart: c.apart}
		if c.floor >= 0 {
			e.Floor = &floor.Floor{Value: c.floor}
		}
		v := e.verdict()
		if v.Reliable != c.reliable || !strings.Contains(v.Because, c.because) || (v.Next != "") != (v.Reliable == Neither) {
			t.Errorf("%s: %+v, want %s: %s", name, v, c.reliable, c.because)
		}
	}
}

// Labels that all rows have say how much is right; those that some have decide nothing.
func TestVerdictByLabels(t *testing.T) {
	measured := func(labelled int, value float64) *Measured {
		return &Measured{Rows: 100, Labels: labelled, Accuracy: labels.Accuracy{Right: int(value * float64(labelled)), Estimate: &evaluation.Estimate{Value: value, Low: value, High: value}}}
	}
	for because, c := range map[string]struct {
		measured *Measured
		reliable string
		next     bool
	}{
		"90.0% of the predictions are right, according to the labels of all rows":                    {measured(100, 0.9), Predictions, false},
		"60.0% of the predictions are right, according to the labels of all rows":                    {measured(100, 0.6), Neither, false},
		"45 of the 50 predictions with a label are right, but these rows may not be a random sample": {measured(50, 0.9), Neither, true},
	} {
		v := evidence{shared: judge.Shared{Test: shifttest.LabelShift{DegreesOfFreedom: 6, P: 0.01}}, measured: c.measured}.verdict()
		if v.Reliable != c.reliable || !strings.Contains(v.Because, because) || (v.Next != "") != c.next {
			t.Errorf("%+v, want %s: %s", v, c.reliable, because)
		}
	}
}

func TestVerdictInALine(t *testing.T) {
	for want, v := range map[string]Verdict{
		"Verdict: the class shares and the predictions can be relied on: all is well.":                                       {Reliable: Both, Because: "all is well"},
		"Verdict: neither the class shares nor the predictions can be relied on: nothing is. To know more, look at the sky.": {Neither, "nothing is", "look at the sky"},
	} {
		if got := v.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// One class without an interval leaves all without: the widest is not known.
func TestEvidenceOfClasses(t *testing.T) {
	o := conclusion{Choice: judge.Choice{Shared: judge.Shared{Test: shifttest.LabelShift{DegreesOfFreedom: 3, P: 0.5}}}}
	o.Classes = []ClassOutcome{
		{TargetShare: 0.5, ReferenceShare: 0.52, TargetInterval: &TargetInterval{0.4, 0.55}},
		{TargetShare: 0.5, ReferenceShare: 0.48, TargetInterval: &TargetInterval{0.45, 0.6}},
	}
	if v := o.verdict(); v.Reliable != Shares {
		t.Errorf("%+v", v)
	}
	o.Classes[0].TargetInterval = nil
	if v := o.verdict(); v.Reliable != Neither || !strings.Contains(v.Because, "no intervals") {
		t.Errorf("%+v", v)
	}
	o.Classes[0].TargetInterval, o.Classes[0].ReferenceShare = o.Classes[1].TargetInterval, 0.8
	if v := o.verdict(); !strings.Contains(v.Because, "the methods' estimates of a class share differ by 30 points") {
		t.Errorf("%+v", v)
	}
}
