package adapt

import (
	"strings"
	"testing"

	"iwda/selection"
)

// An expected accuracy counts on classes that look alike in both domains. Where the run's
// own predictions speak against that, nobody gets to see it.
func TestExpectedAccuracyIsShownWhereItHolds(t *testing.T) {
	for _, explained := range []bool{true, false} {
		judgement := Judgement{Run: "iwdan", Expected: &selection.ExpectedAccuracy{Value: 0.987, Low: 0.981, High: 0.993}, Explained: explained}
		outcome := Outcome{Choice: Choice{Judged: []Judgement{judgement}}}
		text := strings.Join(outcome.Why(), "\n")
		if strings.Contains(text, "98.7% of the target right (98.1 to 99.3%)") != explained || strings.Contains(text, "cannot be told without labels") == explained {
			t.Errorf("explained %v: %s", explained, text)
		}
		if shown := expectedAccuracy(judgement); shown.HasNumber() != explained {
			t.Errorf("explained %v: the report shows %+v", explained, shown)
		}
	}
}
