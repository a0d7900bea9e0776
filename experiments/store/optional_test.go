package store

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOptionalKeys: results of former versions, without the keys, stay readable, and
// the keys are checked where they are there.
func TestOptionalKeys(t *testing.T) {
	want := sampleResult("iwdan", 1)
	dir := begun(t, t.TempDir(), want.ID)
	if err := dir.WriteResult(want); err != nil {
		t.Fatal(err)
	}
	if text := read(t, dir.Path(ResultFile)); strings.Contains(text, "source_confusion") || strings.Contains(text, "machine") {
		t.Errorf("keys without a value are written:\n%s", text)
	}
	want.SourceConfusion, want.Machine = [][]int{{5, 0}, {1, 6}}, "a processor"
	if err := dir.WriteResult(want); err != nil {
		t.Fatal(err)
	}
	got, err := dir.ReadResult()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for message, confusion := range map[string][][]int{
		"source_confusion has 1 rows":         {{5, 0}},
		"source_confusion[1] has 1 columns":   {{5, 0}, {1}},
		"source_confusion[0][1] is -1, not a": {{5, -1}, {1, 6}},
	} {
		want.SourceConfusion = confusion
		if err := dir.WriteResult(want); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want %q", err, message)
		}
	}
}

// A run without a labelled test row has no accuracies: neither keys nor cells, and no
// zeros or NaN in their place. A run with labels must have them.
func TestAccuracyNotMeasured(t *testing.T) {
	result := sampleResult("iwdan", 1)
	dir := begun(t, t.TempDir(), result.ID)
	without := result
	without.BestAccuracy, without.LastAccuracy, without.MeanClassAccuracy = Optional[float64]{}, Optional[float64]{}, Optional[float64]{}
	without.BestEpoch, without.Confusion = Optional[int]{}, [][]int{{0, 0}, {0, 0}}
	if err := dir.WriteResult(without); err != nil {
		t.Fatal(err)
	}
	text := read(t, dir.Path(ResultFile))
	if strings.Contains(text, "accuracy") || strings.Contains(text, "best_epoch") {
		t.Errorf("keys without a value are written:\n%s", text)
	}
	got, err := dir.ReadResult()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(without, got); diff != "" {
		t.Error(diff)
	}
	write(t, dir.Path(ResultFile), strings.Replace(text, `"classes"`, `"last_accuracy": null, "classes"`, 1))
	if _, err := dir.ReadResult(); err == nil || !strings.Contains(err.Error(), "null is no measured value") {
		t.Errorf("null: %v", err)
	}
	for message, spoil := range map[string]func(*Result){
		`the key "last_accuracy" is missing`:   func(r *Result) { r.LastAccuracy = Optional[float64]{} },
		`the key "best_epoch" is missing`:      func(r *Result) { r.BestEpoch = Optional[int]{} },
		"mean_class_accuracy is 1.5, not a fr": func(r *Result) { r.MeanClassAccuracy = Measured(1.5) },
	} {
		spoilt := result
		spoil(&spoilt)
		if err := dir.WriteResult(spoilt); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want %q", err, message)
		}
	}
	lines := []Metrics{{Epoch: 1, Step: 2, ClassificationLoss: 0.5}, {Epoch: 2, Step: 4, Accuracy: Measured(0.0), MeanClassAccuracy: Measured(0.25)}}
	if err := dir.WriteMetrics(lines); err != nil {
		t.Fatal(err)
	}
	if text := read(t, dir.Path(MetricsFile)); !strings.Contains(text, "\n1,2,,,0.5,") || !strings.Contains(text, "\n2,4,0,0.25,") {
		t.Errorf("metrics\n%s", text)
	}
	if got, err := dir.ReadMetrics(); err != nil || !cmp.Equal(got, lines) {
		t.Errorf("metrics %+v, %v", got, err)
	}
}
