package selection_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

// Risk and divergence that follow from evidence are those of the criteria, and the estimate
// is near the truth.
func TestEvidence(t *testing.T) {
	in, _, err := selection.Calibrated(shifted(1))
	if err != nil {
		t.Fatal(err)
	}
	e, err := selection.Gather(in)
	if err != nil {
		t.Fatal(err)
	}
	q := []float64{0.2, 0.5, 0.3}
	counts := make([]float64, len(q))
	for _, label := range in.SourceLabels {
		counts[label]++
	}
	in.TargetShares, in.ClassWeights = q, make([]float64, len(q))
	floats.DivTo(in.ClassWeights, q, counts)
	floats.Scale(float64(len(in.SourceLabels)), in.ClassWeights)
	for name, got := range map[string]float64{"iwv-y": e.Risk(q), "prior-divergence": e.Divergence(q)} {
		criterion, err := selection.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := criterion.Value(in); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s from evidence %v, want %v, %v", name, got, want, err)
		}
	}
	if floats.Distance(e.Estimated, line.target, math.Inf(1)) > 0.03 {
		t.Errorf("estimated shares %v, want %v", e.Estimated, line.target)
	}
	in.SourceLabels = slices.Repeat([]int{0}, len(in.SourceLabels))
	if _, err := selection.Gather(in); !errors.Is(err, selection.ErrMissing) || !strings.Contains(err.Error(), "class 1") {
		t.Errorf("without a row of a class: %v", err)
	}
	if _, err := selection.Gather(selection.Input{}); !errors.Is(err, selection.ErrMissing) {
		t.Errorf("of nothing: %v", err)
	}
}
