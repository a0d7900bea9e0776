package judge

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/inference/classshares"
	"iwda/internal/must"
	"iwda/weightest"
)

// A row is calibrated by the other parts. Of a candidate that is five times too sure the
// probabilities come close to those of its twin that is right.
func TestCalibratedElsewhere(t *testing.T) {
	candidates, _ := problem(t)
	sure, right := candidates[1], candidates[0].Uncalibrated()
	p := must.Have(sure.CalibratedElsewhere())(t)
	distance := func(p []float64) float64 { return floats.Distance(p, right, 1) / float64(len(p)) }
	if got, before := distance(p), distance(sure.Uncalibrated()); got > 0.01 || before < 0.05 {
		t.Errorf("%v away from what is right, %v before", got, before)
	}
	parts := parted(sure.HeldOutLabels, nil, 3, 5)
	without := sure
	without.HeldOut, without.HeldOutLabels = nil, nil
	for _, i := range slices.Concat(parts[1:]...) {
		without.HeldOut, without.HeldOutLabels = append(without.HeldOut, sure.HeldOut[3*i:3*i+3]...), append(without.HeldOutLabels, sure.HeldOutLabels[i])
	}
	by := must.Have(classshares.Calibrate(3, without.heldOut(), without.HeldOutLabels, classshares.Settings{}))(t)
	want := by.Of(sure.heldOut())
	for _, i := range parts[0] {
		if floats.Distance(p[3*i:3*i+3], want[3*i:3*i+3], 1) > 1e-6 {
			t.Fatalf("row %d: %v, by the other parts %v", i, p[3*i:3*i+3], want[3*i:3*i+3])
		}
	}
	// Few rows are no error: parts without rows are left out.
	sure.HeldOut, sure.HeldOutLabels = sure.HeldOut[:9], []int{0, 1, 2}
	if p, err := sure.CalibratedElsewhere(); err == nil && (len(p) != 9 || math.Abs(floats.Sum(p)-3) > 1e-9) {
		t.Errorf("%v", p)
	}
}

func TestUncalibrated(t *testing.T) {
	candidates, _ := problem(t)
	p := candidates[0].Uncalibrated()
	row := weightest.Widen(candidates[0].HeldOut[:3])
	sum := math.Exp(row[0]) + math.Exp(row[1]) + math.Exp(row[2])
	for class, z := range row {
		if math.Abs(p[class]-math.Exp(z)/sum) > 1e-9 {
			t.Errorf("class %d: %v", class, p[class])
		}
	}
}

// Each row is in one part, and each part has as many of each class, be they in whatever order.
func TestParted(t *testing.T) {
	var byTurns, inOrder []int
	for i := range 500 {
		byTurns, inOrder = append(byTurns, i%10), append(inOrder, i/50)
	}
	for _, labels := range [][]int{byTurns, inOrder} {
		seen := map[int]bool{}
		for _, rows := range parted(labels, nil, 10, 5) {
			counts := make([]int, 10)
			for _, i := range rows {
				seen[i] = true
				counts[labels[i]]++
			}
			if slices.Min(counts) != 10 || slices.Max(counts) != 10 {
				t.Errorf("a part has %v of the classes", counts)
			}
		}
		if len(seen) != 500 {
			t.Errorf("%d rows in all", len(seen))
		}
	}
}
