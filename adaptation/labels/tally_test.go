package labels

import (
	"testing"
)

// Some labels say what evaluate would say of them, all say it without an interval.
func TestTally(t *testing.T) {
	given, p := evaluated(t, func(row int) string {
		if row < 8 {
			return "cow"
		}
		return truth(row)
	})
	var some, all, none Tally
	for row := range 60 {
		right := p.of(row) == truth(row)
		some.Add(p.Confidence[row], row%2 == 0, right)
		all.Add(p.Confidence[row], true, right)
		none.Add(p.Confidence[row], false, false)
	}
	want := Evaluate(given, p).Predictions
	if n, a := some.Accuracy(); n != 30 || a.Right != 26 || *a.Estimate != *want.Estimate || a.Interval != want.Interval {
		t.Errorf("%d: %+v, want %+v", n, a, want)
	}
	if n, a := all.Accuracy(); n != 60 || a.Right != 52 || a.Value != 52./60 || a.Low != a.Value || a.High != a.Value {
		t.Errorf("%d: %+v", n, a)
	}
	if n, a := none.Accuracy(); n != 0 || a.Estimate != nil {
		t.Errorf("%d: %+v", n, a)
	}
}
