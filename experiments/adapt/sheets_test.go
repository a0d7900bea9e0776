package adapt

import (
	"strings"
	"testing"

	"iwda/classshares"
	"iwda/experiments/judge"
	"iwda/experiments/store"
)

// An expected accuracy counts on classes that look alike in both domains. Where the run's
// own predictions speak against that, nobody gets to see it.
func TestExpectedAccuracyIsShownWhereItHolds(t *testing.T) {
	for why, p := range map[string]store.Optional[float64]{
		"against which the test of label shift on its predictions says nothing": store.Measured(0.05),
		"says that classes look different to it there":                          store.Measured(0.049),
		"nothing tests whether classes look different":                          {},
	} {
		known := store.WithoutLabels{ExpectedAccuracy: &classshares.Accuracy{Value: 0.987, Low: 0.981, High: 0.993}, LabelShiftP: p}
		judgement := judge.Judgement{Run: "iwdan", Expected: known.TrustedAccuracy(), LabelShiftP: p}
		outcome := conclusion{Choice: judge.Choice{Judged: []judge.Judgement{judgement}}}
		text, holds := outcome.expectation(), p.OrNaN() >= 0.05
		if !strings.Contains(text, why) || strings.Contains(text, "98.7% of the target right (98.1 to 99.3%)") != holds || strings.Contains(text, "cannot be told without labels") == holds {
			t.Errorf("p = %v: %s", p.OrNaN(), text)
		}
		if shown := expectedAccuracy(judgement); shown.HasNumber() != holds {
			t.Errorf("p = %v: the report shows %+v", p.OrNaN(), shown)
		}
	}
	// Where too few rows are held out, none was measured although the test was made.
	judgement := judge.Judgement{Run: "iwdan", LabelShiftP: store.Measured(0.5)}
	outcome := conclusion{Choice: judge.Choice{Judged: []judge.Judgement{judgement}}}
	if text := outcome.expectation(); !strings.Contains(text, "with so few held-out source rows") {
		t.Error(text)
	}
}
