package adapt

import (
	"math"
	"testing"
)

func TestHeldOutOutcome(t *testing.T) {
	got := heldOutRows{{6, 2}, {0, 4}}.outcome(2)
	if got.Networks != 2 || got.Rows != 12 || math.Abs(got.Accuracy-10./12) > 1e-12 {
		t.Errorf("%+v", got)
	}
}
