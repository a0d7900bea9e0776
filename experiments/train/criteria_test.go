package train

import (
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	savedmodel "iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/selection"
	"iwda/weightest"
)

// Every evaluation leaves the criteria that follow from the network's outputs, and an
// interrupted run the same ones.
func TestEveryEvaluationMeasuresCriteria(t *testing.T) {
	run := ownRun(t, "iwdan", nil, "train.validation=0.3")
	dir, result := train(t, run)
	metrics, err := dir.ReadMetrics()
	if err != nil {
		t.Fatal(err)
	}
	if len(metrics) != 5 {
		t.Fatalf("%d evaluations", len(metrics))
	}
	outputs, err := dir.ReadOutputs()
	if err != nil {
		t.Fatal(err)
	}
	logits := func(values []float32) *mat.Dense { return mat.NewDense(len(values)/3, 3, weightest.Widen(values)) }
	if len(outputs.TargetLabels) != 120 || slices.Max(outputs.TargetLabels) != -1 || len(outputs.HeldOutLabels) != result.WithoutLabels.Validation.Rows {
		t.Fatalf("outputs of %d and %d rows, labels of the target %v", len(outputs.HeldOutLabels), len(outputs.TargetLabels), outputs.TargetLabels)
	}
	in, _, err := selection.Calibrated(selection.Input{
		SourceLogits: logits(outputs.HeldOut), SourceLabels: outputs.HeldOutLabels, TargetLogits: logits(outputs.Target),
	})
	if err != nil {
		t.Fatal(err)
	}
	last := metrics[len(metrics)-1]
	for _, name := range measuredCriteria {
		criterion, err := selection.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := criterion.Value(in)
		if got, there := last.Criteria[name]; err != nil || !there || got != want {
			t.Errorf("%s is %v, want %v, %v", name, got, want, err)
		}
	}
	sample, err := in.Sample()
	if err != nil {
		t.Fatal(err)
	}
	solution, err := selection.TargetShares(sample)
	if err != nil {
		t.Fatal(err)
	}
	want := solution.TargetDistribution
	if !slices.Equal(result.WithoutLabels.LikelyShares, want) || !result.WithoutLabels.LabelShiftP.Measured {
		t.Errorf("the result has %+v", result.WithoutLabels)
	}
	// The classes lie far apart, and the network tells them.
	if e := result.WithoutLabels.ExpectedAccuracy; e == nil || e.Low > e.Value || e.Value > e.High || e.Low < 0.8 || e.High > 1 {
		t.Errorf("expected accuracy %+v", e)
	}
	if estimated := want[2]; math.Abs(estimated-0.6) > 0.1 {
		t.Errorf("three in five rows are dogs, by estimate %v", estimated)
	}

	pieces, _ := finishInPieces(t, run, 23)
	if diff := outcomeOf(t, dir).diff(outcomeOf(t, pieces)); diff != "" {
		t.Error(diff)
	}
}

// Without held-out rows there are the criteria that need none, and nothing to choose by.
func TestCriteriaWithoutHeldOutRows(t *testing.T) {
	dir, result := train(t, ownRun(t, "source-only", trueLabel))
	metrics, err := dir.ReadMetrics()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metrics {
		if _, there := m.Criteria["entropy"]; !there || len(m.Criteria) != 4 {
			t.Errorf("epoch %d: %v", m.Epoch, m.Criteria)
		}
	}
	if result.WithoutLabels != nil {
		t.Errorf("known without labels: %+v", result.WithoutLabels)
	}
	if _, err := os.Stat(dir.Path(store.OutputsFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", store.OutputsFile, err)
	}
}

// Of a large set every nth row is kept, whatever the batches.
func TestOutputsAreEvenlySpaced(t *testing.T) {
	for _, c := range []struct{ rows, most, every int }{{100, 100, 1}, {101, 100, 2}, {1000, 300, 4}} {
		if u := newOutputs(c.rows, c.most); u.every != c.every {
			t.Errorf("%d rows, at most %d: every %d", c.rows, c.most, u.every)
		}
	}
}

// Held-out rows that are told apart by far determine no calibration, and the
// probabilities go on speaking for the shares of the loss: the estimate is that of the model, which
// knows these shares, and not the one that takes them for the held-out rows'.
func TestLikelySharesWithoutCalibration(t *testing.T) {
	in := selection.Input{SourceLogits: mat.NewDense(50, 2, nil), SourceLabels: make([]int, 50), TargetLogits: mat.NewDense(400, 2, nil)}
	for i := range 50 {
		in.SourceLabels[i] = i / 40 // shares of 0.8 and 0.2
		in.SourceLogits.Set(i, in.SourceLabels[i], 90)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		in.TargetLogits.Set(i, i%2, 0.5+random.NormFloat64())
	}
	classifier := []float64{0.5, 0.5}
	var known, wrong store.WithoutLabels
	if err := likelyShares(&known, in, classifier); err != nil {
		t.Fatal(err)
	}
	calibration, err := savedmodel.Calibrate(in.SourceLogits.RawMatrix().Data, in.SourceLabels, 2)
	if err != nil || calibration.Form != "none" {
		t.Fatalf("calibration %v, %v", calibration.Form, err)
	}
	sample, err := savedmodel.NewSample(calibration, classifier, in.SourceLogits.RawMatrix().Data, in.SourceLabels, in.TargetLogits.RawMatrix().Data)
	if err != nil {
		t.Fatal(err)
	}
	want, err := savedmodel.TargetShares(sample)
	if err != nil || !floats.EqualApprox(known.LikelyShares, want.TargetDistribution, 1e-6) {
		t.Errorf("shares %v, those of the model %v, %v", known.LikelyShares, want.TargetDistribution, err)
	}
	if err := likelyShares(&wrong, in, []float64{0.8, 0.2}); err != nil || math.Abs(wrong.LikelyShares[0]-known.LikelyShares[0]) < 0.05 {
		t.Errorf("shares %v whether the loss was balanced or not, %v", wrong.LikelyShares, err)
	}
}
