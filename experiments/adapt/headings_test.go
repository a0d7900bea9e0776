package adapt

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/table"
	"iwda/experiments/labels"
	"iwda/experiments/labelshift"
	"iwda/internal/heading"
)

// One thing has one name in all files that are written for users, and in JSON.
func TestHeadings(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	columns := func(name string) (columns []string) {
		must(table.ReadText(path(name), func(header []string) error {
			columns = slices.Clone(header)
			return nil
		}, func(int, []string) error { return nil }))
		return columns
	}
	row := []string{"id", "predicted_class", "probability"}
	shares := strings.Fields("source_share target_share target_share_low target_share_high weight weight_low weight_high")

	classes := []string{"cat", "dog"}
	_, err := table.WritePredictions(path(PredictionsFile), table.Predictions{Classes: classes, Probabilities: true},
		func(add func(string, []float32) error) error { return add("1", []float32{0.25, 0.75}) })
	must(err)
	d := newDisputes(2, []float64{0.25, 0.75})
	d.add("mcc", "", 2, []float64{0.75, 0.25})
	d.rank()
	must(d.write(path(DisputedFile), path(PredictionsFile), classes))
	must(labels.Write(path(ToLabelFile), []labels.Row{{Stratum: "0-1", Share: 1}}))
	of := []ClassOutcome{{Class: "cat", TargetInterval: new(TargetInterval), WeightInterval: new(WeightInterval)}}
	must(writeClasses(path(ClassesFile), of))
	must(os.WriteFile(path("source.csv"), []byte("label,probability_cat,probability_dog\ncat,0.75,0.25\ndog,0.25,0.75\n"), 0o666))
	must(os.WriteFile(path("target.csv"), []byte("probability_cat,probability_dog\n0.75,0.25\n0.25,0.75\n0.25,0.75\n"), 0o666))
	source, err := labelshift.ReadSource(path("source.csv"), table.Options{})
	must(err)
	target, err := labelshift.ReadTarget(path("target.csv"), table.Options{}, source)
	must(err)
	settings := labelshift.Default()
	settings.Replicas = 20
	analysis, err := labelshift.Analyse(source, target, settings)
	must(err)

	text, err := json.Marshal(of[0])
	must(err)
	var keys map[string]any
	must(json.Unmarshal(text, &keys))
	for _, key := range shares {
		if _, has := keys[key]; !has {
			t.Errorf("a class of outcome.json has no %q: %s", key, text)
		}
	}
	for name, c := range map[string]struct{ got, want []string }{
		PredictionsFile:    {columns(PredictionsFile), append(slices.Clone(row), "probability_cat", "probability_dog")},
		DisputedFile:       {columns(DisputedFile), append(slices.Clone(row), "mcc")},
		ToLabelFile:        {columns(ToLabelFile), append(slices.Clone(row), "stratum", "stratum_share", "label")},
		ClassesFile:        {columns(ClassesFile), append([]string{"class"}, shares...)},
		"labelshift's CSV": {analysis.Sheet().Records.Fields, slices.Concat([]string{"estimator", "calibration", "label_shift_p", "class"}, shares[:4], []string{"target_share_joint_low", "target_share_joint_high"}, shares[4:], []string{"weight_joint_low", "weight_joint_high"})},
		"heading": {
			[]string{heading.ID, heading.PredictedClass, heading.Probability, heading.Stratum, heading.StratumShare, heading.Label, heading.Class},
			append(slices.Clone(row), "stratum", "stratum_share", "label", "class"),
		},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: the columns are\n%q, want\n%q", name, c.got, c.want)
		}
	}
}

// An outcome of version 0.3.0 is read with its intervals, and one of a later version is not.
func TestFormerOutcome(t *testing.T) {
	read := func(text string) (*Outcome, error) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, OutcomeFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return ReadOutcome(folder)
	}
	o, err := read(`{"format": 2, "classes": [{"class": "cat", "target_share": 0.5},
		{"class": "dog", "target_share": 0.5, "target_interval": [0.25, 0.75], "weight": 2, "weight_interval": [1, 3]}]}`)
	if err != nil || o.Classes[0].TargetInterval != nil || *o.Classes[1].TargetInterval != (TargetInterval{0.25, 0.75}) || *o.Classes[1].WeightInterval != (WeightInterval{1, 3}) {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := read(`{"format": 4}`); err == nil || !strings.Contains(err.Error(), OutcomeFile+": has the format 4") {
		t.Errorf("error %v", err)
	}
}
