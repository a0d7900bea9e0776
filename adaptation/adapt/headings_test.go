package adapt

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labels"
	"iwda/adaptation/labelshift"
	"iwda/datasets/table"
	"iwda/internal/heading"
	"iwda/internal/must"
	"iwda/internal/printable"
	"iwda/internal/testfiles"
)

// One thing has one name in all files that are written for users, and in JSON.
func TestHeadings(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	columns := func(name string) (columns []string) {
		must.Do(t, table.ReadText(path(name), func(header []string) error {
			columns = slices.Clone(header)
			return nil
		}, func(int, []string) error { return nil }))
		return columns
	}
	row := []string{"id", "predicted_class", "probability"}
	shares := strings.Fields("source_share target_share target_share_low target_share_high weight weight_low weight_high")

	classes := []string{"cat", "dog"}
	_, err := table.WritePredictions(path(names.Predictions), table.Predictions{Classes: classes, Probabilities: true},
		func(add table.Add) error { return add("1", []float32{0.25, 0.75}) })
	must.Do(t, err)
	must.Do(t, labels.Write(path(names.ToLabel), []labels.Row{{}}))
	of := []ClassOutcome{{Class: "cat", TargetInterval: new(TargetInterval), WeightInterval: new(WeightInterval)}}
	must.Do(t, writeClasses(path(names.Classes), of))
	must.Do(t, os.WriteFile(path("source.csv"), []byte("label,probability_cat,probability_dog\ncat,0.75,0.25\ndog,0.25,0.75\n"), 0o666))
	must.Do(t, os.WriteFile(path("target.csv"), []byte("probability_cat,probability_dog\n0.75,0.25\n0.25,0.75\n0.25,0.75\n"), 0o666))
	source := must.Have(labelshift.ReadSource(path("source.csv"), table.Options{}))(t)
	target := must.Have(labelshift.ReadTarget(path("target.csv"), table.Options{}, source))(t)
	settings := labelshift.Default()
	settings.Replicas = 20
	analysis := must.Have(labelshift.Analyse(source, target, settings))(t)

	text := must.Have(json.Marshal(of[0]))(t)
	var keys map[string]any
	must.Do(t, json.Unmarshal(text, &keys))
	for _, key := range shares {
		if _, has := keys[key]; !has {
			t.Errorf("a class of outcome.json has no %q: %s", key, text)
		}
	}
	known := []string{"mean_probability", "predicted_share", "recall", "recall_low", "recall_high", "precision", "precision_low", "precision_high"}
	for name, c := range map[string]struct{ got, want []string }{
		names.Predictions:  {columns(names.Predictions), append(slices.Clone(row), "probability_cat", "probability_dog")},
		names.ToLabel:      {columns(names.ToLabel), append(slices.Clone(row), "label")},
		names.Classes:      {columns(names.Classes), slices.Concat([]string{"class"}, shares, known, []string{"share_rejected"})},
		"labelshift's CSV": {analysis.Sheet().Records.Fields, slices.Concat([]string{"estimator", "calibration", "label_shift_p", "class"}, shares[:4], []string{"target_share_joint_low", "target_share_joint_high"}, shares[4:], []string{"weight_joint_low", "weight_joint_high", "mean_probability", "predicted_share", "share_rejected"}, known[2:])},
		"heading": {
			[]string{heading.ID, heading.PredictedClass, heading.Probability, heading.Label, heading.Class},
			append(slices.Clone(row), "label", "class"),
		},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: the columns are\n%q, want\n%q", name, c.got, c.want)
		}
	}
}

// Ids and classes that spreadsheets would take for formulas, and such as steer terminals, are in all files that are
// written for users, cannot be run there, and are read as they were.
func TestNoFormulas(t *testing.T) {
	ids := []string{"=1+1", "@x", "+x", "-", "'=x", "-1", "\x1b[2J", "a\nb", "a\rb", "\x00", "a,\"b\"", "x"}
	classes := []string{"=cmd|'/C calc'!A0", "@c"}
	n := len(ids)
	draw := labels.NewDraw(n, 1)
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	_, err := table.WritePredictions(path("predictions.csv"), table.Predictions{Classes: classes, Probabilities: true}, func(add table.Add) error {
		for _, id := range ids {
			if err := add(id, []float32{0.75, 0.25}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		draw.Add(id, classes[0], 0.75)
	}
	rows := draw.Rows()
	outcomes := []ClassOutcome{{Class: classes[0]}, {Class: classes[1]}}
	for _, err := range []error{labels.Write(path("to_label.csv"), rows), writeClasses(path("classes.csv"), outcomes)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"predictions", "to_label", "classes"} {
		file := must.Have(os.Open(path(name + ".csv")))(t)
		records, err := csv.NewReader(file).ReadAll()
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		var asWritten [][]string
		for _, record := range records[1:] {
			for i, cell := range record {
				if strings.ContainsAny(cell[:min(1, len(cell))], "=+@-") && cell != "-1" {
					t.Errorf("%s.csv: the cell %q is a formula", name, cell)
				}
				record[i] = printable.FromCell(cell)
			}
			asWritten = append(asWritten, record)
		}
		want, column := ids, 0
		if name == "classes" {
			want = classes
		}
		var got []string
		for _, record := range asWritten {
			got = append(got, record[column])
			if name != "classes" && record[1] != classes[0] {
				t.Errorf("%s.csv: %q", name, record)
			}
		}
		slices.Sort(got)
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
			t.Errorf("%s.csv: %q, want %q", name, got, want)
		}
	}
	// Labels of drawn rows are matched with their predictions, be their ids formulas or not.
	filled := "id,label\n"
	for _, id := range ids[:5] {
		filled += printable.Cell(id) + "," + printable.Cell(classes[1]) + "\n"
	}
	testfiles.Write(t, path("labels.csv"), filled)
	e, err := evaluateHere(context.Background(), path("predictions.csv"), path("labels.csv"), EvaluateOptions{})
	if err != nil || e.Labels != 5 || e.Rows != n || e.Recalls[0].Class != classes[1] {
		t.Errorf("%+v, %v", e, err)
	}
}

// An outcome of another format is an error that says which.
func TestOutcomeOfAnotherFormat(t *testing.T) {
	folder := t.TempDir()
	for text, want := range map[string]string{`{"format": 2}`: "has the format 2", `{"format": 3}`: "has the format 3", "{}": "has the format 0"} {
		testfiles.Write(t, filepath.Join(folder, names.Outcome), text)
		if _, err := ReadOutcome(folder); err == nil || !strings.Contains(err.Error(), names.Outcome+": "+want+"; this version of iwrun reads 4: give the same iwrun adapt command again") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
