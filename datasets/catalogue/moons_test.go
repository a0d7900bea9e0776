package catalogue_test

import (
	"math"
	"testing"

	"iwda/datasets"
	"iwda/datasets/catalogue"
)

// Points lie around their own half circle: half a circle of radius 1 whose middle, and
// whose side, tell the moons apart, and which the target has turned by 35 degrees around
// the middle of both.
func TestMoons(t *testing.T) {
	task, err := find(t, "moons").OpenTask("upright", "turned", catalogue.Source{Seed: 3, TrainPerClass: 2000, TestPerClass: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, domain := range []struct {
		set          datasets.Set
		angle, noise float64
	}{{task.Source, 0, 0.1}, {task.Target, 35 * math.Pi / 180, 0.15}} {
		var squares float64
		row := make([]float32, 2)
		for i := range domain.set.Len() {
			domain.set.CopyRow(row, i)
			// Turned back around (1/2, 1/4).
			sin, cos := math.Sincos(domain.angle)
			x, y := float64(row[0])-0.5, float64(row[1])-0.25
			x, y = 0.5+cos*x+sin*y, 0.25-sin*x+cos*y
			class, known := domain.set.Label(i)
			if class == 1 {
				x, y = 1-x, 0.5-y
			}
			if !known || class != i%2 || y < -6*domain.noise {
				t.Fatalf("%s: row %d of class %d lies at %v, at (%.2f, %.2f) of its moon", domain.set.Name(), i, class, row, x, y)
			}
			off := math.Hypot(x, y) - 1
			squares += off * off
		}
		// Noise along the circle does not count: one of two directions.
		if deviation := math.Sqrt(squares / float64(domain.set.Len())); math.Abs(deviation/domain.noise-1) > 0.05 {
			t.Errorf("%s: points lie %.4f off their circle, want %.4f", domain.set.Name(), deviation, domain.noise)
		}
	}
}
