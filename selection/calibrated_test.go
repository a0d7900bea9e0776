package selection_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/selection"
)

// shifted returns rows of the problem on a line by a classifier that knows the source.
func shifted(sharpness float64) selection.Input {
	random := rand.New(rand.NewPCG(1, 2))
	heldOut, labels := onLine(random, line.source, 3000)
	target, _ := onLine(random, line.target, 5000)
	return selection.Input{SourceLogits: knowing(heldOut, sharpness), SourceLabels: labels, TargetLogits: knowing(target, sharpness)}
}

// A classifier that is five times too sure is calibrated to what one is that is not, but for
// the penalty of 3,000 rows, and the input itself stays as it was.
func TestCalibrated(t *testing.T) {
	plain, _, err := selection.Calibrated(shifted(1))
	if err != nil {
		t.Fatal(err)
	}
	sure := shifted(5)
	got, calibration, err := selection.Calibrated(sure)
	if err != nil || math.Abs(calibration.Temperature()-5) > 0.5 {
		t.Fatalf("temperature %v, %v", calibration.Temperature(), err)
	}
	if !mat.EqualApprox(got.SourceLogits, plain.SourceLogits, 0.03) || !mat.EqualApprox(got.TargetLogits, plain.TargetLogits, 0.03) {
		t.Error("other logits")
	}
	if !mat.Equal(sure.TargetLogits, shifted(5).TargetLogits) {
		t.Error("the input was changed")
	}
	for i, label := range sure.SourceLabels {
		sure.SourceLabels[i] = min(label, 1)
	}
	if _, calibration, err := selection.Calibrated(sure); err != nil || calibration.Form != "ts" {
		t.Errorf("without a row of a class: %+v, %v", calibration, err)
	}
	if _, _, err := selection.Calibrated(selection.Input{TargetLogits: sure.TargetLogits}); !errors.Is(err, selection.ErrMissing) {
		t.Errorf("without source rows: %v", err)
	}
}

// The estimate of the target's class shares is near the truth, and the class-weighted risk by
// shares is their sum over the mean losses of the classes.
func TestTargetShares(t *testing.T) {
	in, _, err := selection.Calibrated(shifted(1))
	if err != nil {
		t.Fatal(err)
	}
	sample, err := in.Sample()
	if err != nil {
		t.Fatal(err)
	}
	solution, err := selection.TargetShares(sample)
	if err != nil || floats.Distance(solution.TargetDistribution, line.target, math.Inf(1)) > 0.03 {
		t.Errorf("estimated shares %v, want %v, %v", solution.TargetDistribution, line.target, err)
	}
	q, counts, losses := []float64{0.2, 0.5, 0.3}, make([]float64, 3), make([]float64, 3)
	for i, label := range in.SourceLabels {
		row := in.SourceLogits.RawRowView(i)
		counts[label]++
		losses[label] += floats.LogSumExp(row) - row[label]
	}
	in.ClassWeights = make([]float64, len(q))
	want := 0.0
	for class, share := range q {
		in.ClassWeights[class] = share / counts[class] * float64(len(in.SourceLabels))
		want += share * losses[class] / counts[class]
	}
	if got, err := selection.ClassWeightedRisk.Value(in); err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("risk %v, want %v, %v", got, want, err)
	}
}

// The target-risk is the class-weighted risk plus what class shares leave unexplained.
func TestTargetRisk(t *testing.T) {
	in := shifted(1)
	in.ClassWeights = []float64{0.5, 1, 2}
	unexplained, err := selection.Find("unexplained")
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, part := range []selection.Criterion{selection.ClassWeightedRisk, unexplained} {
		value, err := part.Value(in)
		if err != nil {
			t.Fatal(err)
		}
		want += value
	}
	if got, err := selection.TargetRisk.Value(in); err != nil || got != want || selection.TargetRisk.Higher {
		t.Errorf("target-risk %v, want %v, %v", got, want, err)
	}
}
