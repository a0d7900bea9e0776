package judge

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/weightest"
)

// A row is calibrated by others alone: its label changes nothing of it. Of a candidate that is five
// times too sure the probabilities come close to those of its twin that is right.
func TestCalibratedElsewhere(t *testing.T) {
	candidates, _ := problem(t)
	sure, right := candidates[1], candidates[0].Uncalibrated()
	p, err := sure.CalibratedElsewhere()
	if err != nil {
		t.Fatal(err)
	}
	distance := func(p []float64) float64 { return floats.Distance(p, right, 1) / float64(len(p)) }
	if got, before := distance(p), distance(sure.Uncalibrated()); got > 0.01 || before < 0.05 {
		t.Errorf("%v away from what is right, %v before", got, before)
	}
	const row = 7
	sure.HeldOutLabels = slices.Clone(sure.HeldOutLabels)
	sure.HeldOutLabels[row] = (sure.HeldOutLabels[row] + 1) % 3
	other, err := sure.CalibratedElsewhere()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(other[3*row:3*row+3], p[3*row:3*row+3]) || slices.Equal(other, p) {
		t.Error("a row's own label changes it, or no label changes anything")
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
