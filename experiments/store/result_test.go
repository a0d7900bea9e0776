package store

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// A run without a labelled test row has no accuracies: neither keys nor cells, and no
// zeros or NaN in their place. A run with labels must have them.
func TestAccuracyNotMeasured(t *testing.T) {
	result := sampleResult("iwdan", 1)
	dir := begun(t, t.TempDir(), result.ID)
	without := result
	without.BestAccuracy, without.LastAccuracy, without.MeanClassAccuracy = Optional[float64]{}, Optional[float64]{}, Optional[float64]{}
	without.BestEpoch, without.Confusion = Optional[int]{}, [][]int{{0, 0}, {0, 0}}
	must.Do(t, dir.WriteResult(without))
	text := read(t, dir.Path(ResultFile))
	if strings.Contains(text, "accuracy") || strings.Contains(text, "best_epoch") {
		t.Errorf("keys without a value are written:\n%s", text)
	}
	got := must.Have(dir.ReadResult())(t)
	if diff := cmp.Diff(without, got); diff != "" {
		t.Error(diff)
	}
	testfiles.Write(t, dir.Path(ResultFile), strings.Replace(text, `"classes"`, `"last_accuracy": null, "classes"`, 1))
	must.Refuse(dir.ReadResult())(t, "null is no measured value")
	lines := []Metrics{{Epoch: 1, Step: 2, ClassificationLoss: 0.5}, {Epoch: 2, Step: 4, Accuracy: Measured(0.0), MeanClassAccuracy: Measured(0.25)}}
	must.Do(t, dir.WriteMetrics(lines))
	if text := read(t, dir.Path(MetricsFile)); !strings.Contains(text, "\n1,2,,,0.5,") || !strings.Contains(text, "\n2,4,0,0.25,") {
		t.Errorf("metrics\n%s", text)
	}
	if got, err := dir.ReadMetrics(); err != nil || !cmp.Equal(got, lines) {
		t.Errorf("metrics %+v, %v", got, err)
	}
}

// A run on a target without labels has nothing that they tell, but what is known without
// them; a part of either is a mistake.
func TestTargetWithoutLabels(t *testing.T) {
	result := sampleResult("iwdan", 1)
	result.BestAccuracy, result.LastAccuracy, result.MeanClassAccuracy = Optional[float64]{}, Optional[float64]{}, Optional[float64]{}
	result.BestEpoch, result.Confusion = Optional[int]{}, nil
	result.TrueWeights, result.WeightDistance, result.JSD = nil, Optional[float64]{}, Optional[float64]{}
	result.LabelDistributions.Target = nil
	result.WithoutLabels = &WithoutLabels{
		PredictedShares: []float64{0.25, 0.75}, EstimatedShares: []float64{0.2, 0.8}, Certainty: 0.9,
		Validation: &Validation{Rows: 20, Accuracy: 0.95, Loss: 0.25},
	}
	dir := begun(t, t.TempDir(), result.ID)
	must.Do(t, dir.WriteResult(result))
	got := must.Have(dir.ReadResult())(t)
	if diff := cmp.Diff(result, got); diff != "" {
		t.Error(diff)
	}
	var keys map[string]json.RawMessage
	must.Do(t, json.Unmarshal([]byte(read(t, dir.Path(ResultFile))), &keys))
	for _, key := range []string{"best_accuracy", "best_epoch", "last_accuracy", "mean_class_accuracy", "confusion", "true_weights", "weight_distance", "jsd"} {
		if text, there := keys[key]; there {
			t.Errorf("%s is %s", key, text)
		}
	}
}

// Columns that no line has a value of are left out.
func TestOptionalMetrics(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	for columns, lines := range map[string][]Metrics{
		"seconds\n":           {{Epoch: 0}, {Epoch: 1}},
		"seconds,certainty\n": {{Epoch: 0}, {Epoch: 1, Certainty: Measured(0.0)}},
		"seconds,validation_accuracy,validation_loss,certainty\n": {
			{Epoch: 0, ValidationAccuracy: Measured(0.5), ValidationLoss: Measured(0.7), Certainty: Measured(0.6)},
			{Epoch: 1, ValidationAccuracy: Measured(1. / 3), ValidationLoss: Measured(0.1), Certainty: Measured(0.9)},
		},
	} {
		must.Do(t, dir.WriteMetrics(lines))
		if text := read(t, dir.Path(MetricsFile)); !strings.Contains(text, columns) {
			t.Errorf("metrics\n%s\nwant columns %q", text, columns)
		}
		if got, err := dir.ReadMetrics(); err != nil || !cmp.Equal(got, lines) {
			t.Errorf("metrics %+v, %v, want %+v", got, err, lines)
		}
	}
}

func TestResultHash(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	if hash := dir.ResultHash(); hash != "" {
		t.Errorf("none: %q", hash)
	}
	for text, want := range map[string]string{
		`{"id": "a", "nested": {"config_hash": "wrong"}, "config_hash": "0a1b", "rest": [1]}`: "0a1b",
		`{"config_hash": "0a1b"}`: "0a1b",
		``:                        "", `[]`: "", `{}`: "", `{"id": "a"}`: "", `{"config_hash": 5}`: "", `{"id": `: "",
	} {
		testfiles.Write(t, dir.Path(ResultFile), text)
		if hash := dir.ResultHash(); hash != want {
			t.Errorf("%s: %q, want %q", text, hash, want)
		}
	}
}
