package adapt

import (
	"math/rand/v2"
	"testing"

	"iwda/weightest"
)

// Other class shares alone leave nothing unexplained but what few rows leave open; classes
// that a part of the target's rows has left do, by about that part.
func TestUnexplained(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	heldOut, labels := draw(random, sourceShares, 20000)
	of := func(x []float64) []float64 {
		return weightest.Calibration{Scales: []float64{1, 1, 1}, Biases: []float64{0, 0, 0}}.
			Probabilities(classifier(x, sourceShares, 1).RawMatrix().Data)
	}
	for _, part := range []float64{0, 0.2, 0.4} {
		target, _ := draw(random, targetShares, 20000)
		for i := range target {
			if random.Float64() < part {
				target[i] = 1.05 // between two classes, where a tenth as many are
			}
		}
		got := unexplained(of(heldOut), labels, of(target), 3)
		if got < 0.5*part || got > part+0.02 {
			t.Errorf("%v of the rows elsewhere: %v unexplained", part, got)
		}
	}
	// No row of a class, and no prediction of another.
	if got := unexplained([]float64{0.9, 0.1, 0, 0.2, 0.8, 0}, []int{0, 1}, []float64{0.3, 0.7, 0}, 3); got < 0 || got > 1 {
		t.Errorf("%v", got)
	}
}
