package classshares

import (
	"math"
	"testing"
)

// Of 100 draws a fortieth of new ones is expected beyond position 2.525 from either end; at a level
// that needs more draws the bounds are the outermost.
func TestBounds(t *testing.T) {
	draws := make([]float64, 100)
	for i := range draws {
		draws[i] = float64(100 - i)
	}
	for level, want := range map[float64][2]float64{0.95: {2.525, 98.475}, 0.999: {1, 100}} {
		if low, high := bounds(draws, level); math.Abs(low-want[0]) > 1e-6 || math.Abs(high-want[1]) > 1e-6 {
			t.Errorf("level %v: %v to %v, want %v", level, low, high, want)
		}
	}
}
