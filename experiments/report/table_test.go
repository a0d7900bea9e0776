package report

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
	"iwda/internal/must"
)

// TestWithoutTargetLabels: what labels of the target alone would give is absent from
// every table, and nothing fails.
func TestWithoutTargetLabels(t *testing.T) {
	results := detailed(digitsResults())
	for i := range results {
		results[i].TrueWeights, results[i].WeightDistance, results[i].Confusion = nil, store.Optional[float64]{}, nil
	}
	for _, kind := range Kinds() {
		for _, format := range sheet.Formats() {
			if err := Table(kind, runsWith(results...), digitsSample()).Write(io.Discard, format); err != nil {
				t.Errorf("%s as %s: %v", kind, format, err)
			}
		}
	}
	var text bytes.Buffer
	must.Do(t, Table("weights", runsWith(results...), digitsSample()).Write(&text, sheet.Markdown))
	for _, want := range []string{"## full, mnist-usps\n\n| method |", "| iwdan  | 1.02 | 1.12 | 1.22 | 1.32 | 1.42 | 1.52 | 1.62 | 1.72 | 1.82 | 1.92 |        – |   1/3 |"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &text)
		}
	}
}

func TestTheorems(t *testing.T) {
	results := detailed(digitsResults())
	results[0].SourceConfusion = nil
	built := Table("theory", runsWith(results...), digitsSample())
	// The results are of five methods on a task, of which all runs have the same predictions.
	if n := len(built.Records.Rows); n != 5 || len(built.Sections) != 2 || len(built.Sections[0].Rows) != 5 {
		t.Fatalf("%d rows, sections %+v", n, built.Sections)
	}
	if row := built.Sections[0].Rows[4]; row[2].Text() != "iwdan" || row[3].Text() != "0.100" || row[7].Text() != "3/3" {
		t.Errorf("by method: %+v", row)
	}
	if notes := strings.Join(built.Notes, " "); !strings.Contains(notes, "Of 11 runs, the bound of theorem 3.1 says nothing in 11, that of 3.4 in 11, the floor in 11; in 11 the joint error excludes GLS.") {
		t.Errorf("notes: %s", notes)
	}
	if notes := strings.Join(built.Notes, " "); !strings.Contains(notes, "Left out: "+results[0].ID+": source: theory: the confusion matrix holds no sample.") {
		t.Errorf("notes: %s", notes)
	}
	record := map[string]sheet.Value{}
	for i, field := range built.Records.Fields {
		record[field] = built.Records.Rows[0][i]
	}
	for field, want := range map[string]float64{
		"source_error": 0.1, "target_error": 11. / 36, "joint_error": 0.1 + 11./36, "seeds": 1,
		"conditional_distance": 0.9, "joint_error_bound": 0.2, // 1 taken for 2: one in ten on the source, always on the target
	} {
		if got := record[field].Number(); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", field, got, want)
		}
	}
}

// The paper's numbers stand beside no run on other data than the published ones, and a note says why.
func TestNoPaperBesideOtherData(t *testing.T) {
	shift, digits := shiftResults(), digitsResults()
	for kind, of := range map[string]struct {
		results    []store.Result
		experiment config.Config
	}{"accuracy": {digits, digitsSample()}, "gains": {shift, shiftSample()}, "weights": {digits, digitsSample()}} {
		for _, unpublished := range [][]string{nil, {"mnist: 400 of 60000 images"}} {
			of.results[len(of.results)-1].Unpublished = unpublished
			var text bytes.Buffer
			must.Do(t, Table(kind, runsWith(of.results...), of.experiment).Write(&text, sheet.Markdown))
			said := strings.Join(strings.Fields(text.String()), " ") // whatever the lines
			note := strings.Contains(said, "Not beside the paper's numbers, because the data are not the published ones: mnist: 400 of 60000")
			shown := strings.Contains(said, "| paper |") || strings.Contains(said, "(paper)") || strings.Contains(said, "paper: the paper's")
			if other := unpublished != nil; note != other || shown == other && kind != "weights" {
				t.Errorf("%s, of other data %v: note %v, paper %v\n%s", kind, other, note, shown, &text)
			}
		}
	}
}
