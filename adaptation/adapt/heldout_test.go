package adapt

import (
	"math"
	"testing"
)

// Rows are counted by confidence, with intervals that several networks do not narrow, and the gap is
// the mean distance of accuracy from confidence by rows.
func TestTally(t *testing.T) {
	var one, three tally
	p, labels := []float64{0.95, 0.05, 0.05, 0.95, 0.97, 0.03, 0.45, 0.55}, []int{0, 1, 1, 1}
	one.add(2, p, labels)
	for range 3 {
		three.add(2, p, labels)
	}
	bins, of3 := one.bins(1), three.bins(3)
	if b := bins[9]; b.Rows != 3 || math.Abs(b.Confidence-2.87/3) > 1e-12 || math.Abs(b.Accuracy-2./3) > 1e-12 || !(b.Low < b.Accuracy && b.Accuracy < b.High) {
		t.Errorf("%+v", b)
	}
	if b := bins[5]; b.Rows != 1 || b.Accuracy != 1 || b.Confidence != 0.55 {
		t.Errorf("%+v", b)
	}
	if b := of3[9]; b.Rows != 9 || math.Abs(b.Low-bins[9].Low) > 1e-12 || math.Abs(b.High-bins[9].High) > 1e-12 {
		t.Errorf("three networks: %+v, one %+v", b, bins[9])
	}
	if got, want := gap(bins), (3*(2.87/3-2./3)+0.45)/4; math.Abs(got-want) > 1e-12 {
		t.Errorf("gap %v, want %v", got, want)
	}
	for confidence, want := range map[float64]int{0: 0, 0.0999: 0, 0.1: 1, 0.95: 9, 1: 9} {
		if got := binOf(confidence, 10); got != want {
			t.Errorf("%v is in bin %d, want %d", confidence, got, want)
		}
	}
}

func TestHeldOutOutcome(t *testing.T) {
	var before tally
	before.add(2, []float64{0.9, 0.1, 0.2, 0.8}, []int{0, 0})
	h := heldOutRows{confusion: [][]int{{6, 2}, {0, 4}}, before: before.bins(1)}
	got := h.outcome(2)
	if got.Networks != 2 || got.Rows != 12 || math.Abs(got.Accuracy-10./12) > 1e-12 || math.Abs(got.GapBefore-0.45) > 1e-12 || got.GapAfter != nil {
		t.Errorf("%+v", got)
	}
	h.after = h.before
	if got := h.outcome(2); got.GapAfter == nil || *got.GapAfter != got.GapBefore {
		t.Errorf("%+v", got)
	}
}
