package torch

import (
	"math"
	"testing"
)

// Dropout drops the share that it is asked for, each element without regard to its
// neighbours or to the draw before, and keeps the mean, on the host and by operations of a device.
func TestDropoutStatistics(t *testing.T) {
	random := NewRandom(3)
	t.Run("host", func(t *testing.T) { random.Use(func() { testDropoutStatistics(t) }) })
	for _, seed := range []float64{0, 1, random.DeviceSeed(), random.DeviceSeed()} {
		t.Run("device", func(t *testing.T) { random.UseSeed(Number(seed), func() { testDropoutStatistics(t) }) })
	}
}

func testDropoutStatistics(t *testing.T) {
	Tidy(func() {
		const n = 1 << 20
		ones := Full(1, Float32, CPU, n)
		var before []float32
		for _, p := range []float64{0.1, 0.5, 0.75} {
			kept := ToSlice[float32](ones.Dropout(p))
			distances := [5]int{1, 16, 256, 4096, 65536}
			var dropped, again float64
			var together [len(distances)]float64 // dropped here and that many elements later
			for i, v := range kept {
				if v != 0 && math.Abs(float64(v)-1/(1-p)) > 1e-6 {
					t.Fatalf("probability %v: an element became %v", p, v)
				}
				if v != 0 {
					continue
				}
				dropped++
				for lag, distance := range distances {
					if j := i + distance; j < n && kept[j] == 0 {
						together[lag]++
					}
				}
				if before != nil && before[i] == 0 {
					again++
				}
			}
			deviation := func(count, trials, share float64) float64 {
				return (count - trials*share) / math.Sqrt(trials*share*(1-share))
			}
			if d := deviation(dropped, n, p); math.Abs(d) > 4 {
				t.Errorf("probability %v: %v of %d dropped, %.1f deviations", p, dropped, n, d)
			}
			for lag, count := range together {
				if d := deviation(count, float64(n-distances[lag]), p*p); math.Abs(d) > 6 {
					t.Errorf("probability %v: elements %d apart go together, %.1f deviations", p, distances[lag], d)
				}
			}
			if before != nil {
				share := dropped / n
				if d := deviation(again, dropped, 1-float64(nonZero(before))/n); math.Abs(d) > 5 {
					t.Errorf("probability %v: a draw depends on the one before, %.1f deviations of share %.3f", p, d, share)
				}
			}
			before = kept
		}
		for p, want := range map[float64]float32{0: n, 1: 0} {
			if got := ToSlice[float32](ones.Dropout(p).Sum()); got[0] != want {
				t.Errorf("probability %v keeps %v of %d", p, got[0], n)
			}
		}
	})
}

func nonZero(values []float32) int {
	n := 0
	for _, v := range values {
		if v != 0 {
			n++
		}
	}
	return n
}
