package weightest

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPercentile(t *testing.T) {
	values := []float64{1, 2, 4, 8, 16}
	for probability, want := range map[float64]float64{0: 1, 0.25: 2, 0.5: 4, 0.6: 5.6, 0.9: 12.8, 1: 16} {
		if got := percentile(values, probability); math.Abs(got-want) > 1e-12 {
			t.Errorf("percentile %v: %v, want %v", probability, got, want)
		}
	}
	if got := percentile([]float64{3}, 0.7); got != 3 {
		t.Errorf("percentile of one value: %v", got)
	}
}

// Draws of independent, skewed numbers: intervals hold their part of them, joint
// intervals all numbers at once.
func TestDrawnIntervals(t *testing.T) {
	const draws, k, level = 4000, 6, 0.9
	random := rand.New(rand.NewPCG(1, 1))
	values := make([][]float64, draws)
	for i := range values {
		for range k {
			values[i] = append(values[i], math.Exp(random.NormFloat64()/2))
		}
		values[i] = append(values[i], 0) // a class that never is
	}
	got := drawnIntervals(values, level, math.Inf(1))
	var each [k + 1]float64
	var joint float64
	for _, draw := range values {
		all := 1.0
		for y, v := range draw {
			if got.Each[y].Low <= v && v <= got.Each[y].High {
				each[y] += 1. / draws
			}
			if v < got.Joint[y].Low || v > got.Joint[y].High {
				all = 0
			}
		}
		joint += all / draws
	}
	for y, share := range each[:k] {
		if math.Abs(share-level) > 0.002 {
			t.Errorf("number %d: %v of the draws", y, share)
		}
	}
	// A joint interval is no narrower than that of its number, so that it can hold more.
	if joint < level-1e-9 || joint > level+0.02 {
		t.Errorf("jointly %v of the draws", joint)
	}
	if got.Each[k] != (Interval{}) || got.Joint[k] != (Interval{}) {
		t.Errorf("a number that is always 0: %v, %v", got.Each[k], got.Joint[k])
	}
	if one := drawnIntervals([][]float64{{1}}, level, 1); one.Each[0] != (Interval{1, 1}) || one.Joint[0] != (Interval{1, 1}) {
		t.Errorf("one draw: %v", one)
	}
}

func TestDrawnIntervalsStayInBounds(t *testing.T) {
	got := drawnIntervals([][]float64{{0, 1}, {0.5, 0.5}, {0.9, 0.1}, {1, 0}, {0.2, 0.8}}, 0.95, 1)
	for y, joint := range got.Joint {
		if joint.Low < 0 || joint.High > 1 || joint.Low > got.Each[y].Low || joint.High < got.Each[y].High {
			t.Errorf("number %d: %v, jointly %v", y, got.Each[y], joint)
		}
	}
}
