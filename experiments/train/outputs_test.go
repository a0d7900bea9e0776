package train

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"

	"iwda/adaptation/labelshift"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/inference/classshares"
	"iwda/internal/must"
)

// A run that holds rows out leaves the logits by which it is judged, and an interrupted run the same ones.
func TestOutputsToJudgeBy(t *testing.T) {
	run := ownRun(t, "iwdan", nil, "train.validation=0.3")
	dir, result := train(t, run)
	if metrics := metricsOf(t, dir); len(metrics) != 5 {
		t.Fatalf("%d evaluations", len(metrics))
	}
	outputs := must.Have(dir.ReadOutputs())(t)
	heldOut, target := classshares.Rows{Values: outputs.HeldOut}, classshares.Rows{Values: outputs.Target}
	if len(outputs.TargetLabels) != 120 || slices.Max(outputs.TargetLabels) != -1 || len(outputs.HeldOutLabels) != result.WithoutLabels.Validation.Rows {
		t.Fatalf("outputs of %d and %d rows, labels of the target %v", len(outputs.HeldOutLabels), len(outputs.TargetLabels), outputs.TargetLabels)
	}
	fitted := must.Have(classshares.Fit(3, heldOut, outputs.HeldOutLabels, target, classshares.Settings{Trained: result.WithoutLabels.TrainedShares}))(t)
	want := fitted.Target()
	if !slices.Equal(result.WithoutLabels.LikelyShares, want) || !result.WithoutLabels.LabelShiftP.Measured {
		t.Errorf("the result has %+v", result.WithoutLabels)
	}
	about, err := savedmodel.ReadMetadata(dir.String())
	if err != nil || !slices.Equal(about.Shares.Target, want) {
		t.Errorf("the model has the shares %v, want %v, %v", about.Shares.Target, want, err)
	}
	source, targetRows := must.Both(labelshift.ReadRun(dir.String()))(t)
	how := labelshift.Default()
	how.Replicas = 0
	if a, err := labelshift.Analyse(source, targetRows, how); err != nil || !slices.Equal(a.Estimate.TargetDistribution, want) {
		t.Errorf("labelshift says %v of the run, want %v, %v", a.Estimate.TargetDistribution, want, err)
	}
	if estimated := want[2]; math.Abs(estimated-0.6) > 0.1 {
		t.Errorf("three in five rows are dogs, by estimate %v", estimated)
	}

	pieces, _ := finishInPieces(t, run, 23, Options{Threads: 1})
	if diff := outcomeOf(t, dir).diff(outcomeOf(t, pieces)); diff != "" {
		t.Error(diff)
	}
}

// Without held-out rows there is nothing to choose by.
func TestNoOutputsWithoutHeldOutRows(t *testing.T) {
	dir, result := train(t, ownRun(t, "source-only", trueLabel))
	if result.WithoutLabels != nil {
		t.Errorf("known without labels: %+v", result.WithoutLabels)
	}
	if _, err := os.Stat(dir.Path(store.OutputsFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", store.OutputsFile, err)
	}
}
