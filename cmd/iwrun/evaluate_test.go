package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/labels"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// fillIn labels the rows of a file that was drawn.
func fillIn(t *testing.T, path string, truth map[string]string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(readFile(t, path), "\n"), "\n")
	for i, line := range lines[1:] {
		id, _, _ := strings.Cut(line, ",")
		lines[i+1] = line + truth[id]
	}
	testfiles.Write(t, path, strings.Join(lines, "\n")+"\n")
}

// From predictions to a file that is filled in, and from that to their accuracy.
func TestEvaluate(t *testing.T) {
	t.Chdir(t.TempDir())
	truth := writeDomains(t)
	status, out, text := call(t, adaptLine("--set", "methods=[source-only@linear, source-only]", "--label-rows", "40")...)
	if status != 0 || !strings.Contains(out, "label the rows of out/to_label.csv, then\n") || len(readCSV(t, "out/to_label.csv")) != 40 {
		t.Fatalf("status %d\n%s%s", status, text, out)
	}
	if status, _, text := call(t, "evaluate", "out", "out/to_label.csv"); status != 2 || !strings.Contains(text, "out/to_label.csv: rows with a label: 0; at least 2 are needed") {
		t.Errorf("not filled in: status %d\n%s", status, text)
	}
	fillIn(t, "out/to_label.csv", truth)
	typed := readFile(t, "out/to_label.csv")
	if _, out, _ := call(t, "show", "out"); strings.Contains(out, "label the rows") || !strings.Contains(out, "next        iwrun evaluate out out/to_label.csv\n") {
		t.Errorf("with labels it shows\n%s", out)
	}
	status, out, text = call(t, "evaluate", "out", "out/to_label.csv", "-o", "evaluation.json", "--choose", "--device", "cpu")
	if status != 0 || !strings.Contains(out, "the predictions") || !strings.Contains(out, "source-only@linear") || !strings.Contains(text, "othing was changed") {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	if status, _, text := call(t, "evaluate", "out", "out/to_label.csv", "-o", "target.csv"); status != 2 || !strings.Contains(text, "which is read") {
		t.Errorf("over the target: status %d\n%s", status, text)
	}
	var e labels.Evaluation
	must.Do(t, json.Unmarshal([]byte(readFile(t, "evaluation.json")), &e))
	accuracy := accuracyOf(t, "out/predictions.csv", truth)
	if p := e.Predictions; e.Rows != 600 || e.Labels != 40 || len(e.Methods) != 2 || p.Low > accuracy || p.High < accuracy || p.High-p.Low > 0.3 {
		t.Errorf("%+v, the accuracy is %v", e, accuracy)
	}
	for _, line := range [][]string{
		{"predict", "out", "target.csv", "-o", "out/predictions.csv"},
		{"predict", "out", "target.csv", "-o", "more.csv", "--to-label", "out/to_label.csv"},
		{"export", "out/runs/adapt/full/source-target/source-only/seed-1", "-o", "out/model"},
		{"evaluate", "more.csv", "labels.csv", "-o", "out/outcome.json"},
		{"labelshift", "source.csv", "target.csv", "--corrected", "out/predictions.csv"},
	} {
		if status, _, text := call(t, line...); status != 2 || !strings.Contains(text, " is a file of the adaptation in ") {
			t.Errorf("%q: status %d\n%s", line, status, text)
		}
	}
	// New rows, and the same rows again; what is filled in is not written over.
	predict := []string{"predict", "out", "target.csv", "-o", "more.csv", "--to-label", "more_label.csv", "--device", "cpu"}
	succeed(t, predict...)
	if drawn := readCSV(t, "more_label.csv"); len(drawn) != 50 {
		t.Errorf("%d rows", len(drawn))
	}
	before := readFile(t, "more_label.csv")
	if status, _, text := call(t, predict...); status != 0 || readFile(t, "more_label.csv") != before {
		t.Errorf("drawn again: %s", text)
	}
	fillIn(t, "more_label.csv", truth)
	if status, _, text := call(t, predict...); status != 2 || !strings.Contains(text, "more_label.csv has labels") {
		t.Errorf("filled in: status %d\n%s", status, text)
	}
	if status, out, text := call(t, "evaluate", "more.csv", "more_label.csv"); status != 0 || !strings.Contains(out, "| the predictions | ") {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	if readFile(t, "out/to_label.csv") != typed {
		t.Error("to_label.csv has changed")
	}
}

// Rows without ids have the same number in predictions, of adapt and of the model, and among labels: one
// without a value is a row, and those that a spreadsheet leaves below the table are none.
func TestEvaluateBesideEmptyRows(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	lines := strings.Split(readFile(t, "target.csv"), "\n")
	for i, line := range lines {
		_, lines[i], _ = strings.Cut(line, ",") // without its id
		if i == 20 {
			lines[i] += "\n , \n"
		}
	}
	testfiles.Write(t, "target.csv", strings.Join(lines, "\n")+"\n,\n , \n")
	testfiles.Write(t, "source.csv", readFile(t, "source.csv")+",,\n,,\n")
	succeed(t, adaptLine("--set", "methods=[source-only@linear]")...)
	succeed(t, "predict", "out", "target.csv", "-o", "again.csv", "--device", "cpu")
	rows, again, given := readCSV(t, "out/predictions.csv"), readCSV(t, "again.csv"), "id,label\n"
	for i, row := range rows {
		if want := fmt.Sprint(i); row["id"] != want || again[i]["id"] != want || again[i]["predicted_class"] != row["predicted_class"] {
			t.Fatalf("row %d: %v, %v", i, row, again[i])
		}
		given += row["id"] + "," + row["predicted_class"] + "\n,\n"
	}
	testfiles.Write(t, "labels.csv", given)
	if status, _, text := call(t, "evaluate", "again.csv", "labels.csv", "-o", "e.md"); status != 0 || !strings.Contains(readFile(t, "e.md"), "| ---") {
		t.Errorf("status %d, %s\n%s", status, text, readFile(t, "e.md"))
	}
	status, out, text := call(t, "evaluate", "out", "labels.csv", "-o", "evaluation.json", "--device", "cpu")
	if e := readFile(t, "evaluation.json"); status != 0 || len(rows) != 601 || !strings.Contains(e, `"labels": 601`) {
		t.Errorf("status %d, %d rows\n%s\n%s\n%s", status, len(rows), out, text, e)
	}
}

// What cannot be carried out says why, with the status of what is wrong.
func TestEvaluateErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Write(t, "predictions.csv", "id,predicted_class,probability\n1,cat,0.5\n2,dog,0.75\n")
	testfiles.Write(t, "labels.csv", "id,label\n1,cat\n3,dog\n")
	testfiles.Write(t, "arrays.npz", "PK\x03\x04")
	testfiles.Write(t, "twice.csv", "id,label\n1,cat\n1,cat\n")
	for _, c := range []struct {
		status int
		want   string
		line   []string
	}{
		{2, "name the folder of the predictions, and the file of the labels", []string{"predictions.csv"}},
		{2, "which is read", []string{"predictions.csv", "labels.csv", "-o", "labels.csv"}},
		{2, "which is read", []string{".", "labels.csv", "-o", "predictions.csv"}},
		{2, "-o e.csv: the name must end with .json or .md", []string{"predictions.csv", "labels.csv", "-o", "e.csv"}},
		{2, "labels.csv:3: id \"3\" is not among the 2 rows of predictions.csv", []string{"predictions.csv", "labels.csv"}},
		{2, "twice.csv:3: id \"1\" has a label in line 2 already", []string{".", "twice.csv"}},
		{2, "arrays.npz: columns of text are read from files that end with .csv, .tsv, .csv.gz or .tsv.gz", []string{"arrays.npz", "labels.csv"}},
		{2, "arrays.npz: columns of text", []string{".", "arrays.npz"}},
		{2, "no methods to choose from", []string{".", "labels.csv", "--choose"}},
		{2, "no such file", []string{"none", "labels.csv"}},
		{2, "no such file", []string{".", "none.csv"}},
	} {
		if status, _, text := call(t, append([]string{"evaluate"}, c.line...)...); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%q: status %d, want %d and %q\n%s", c.line, status, c.status, c.want, text)
		}
	}
	if status, _, text := call(t, "predict", "model", "rows.npy", "-o", "x.csv", "--label-rows", "5"); status != 2 || !strings.Contains(text, "name it with --to-label") {
		t.Errorf("status %d\n%s", status, text)
	}
	if status, _, text := call(t, "predict", "model", "rows.npy", "-o", "x.csv", "--to-label", "./x.csv"); status != 2 || !strings.Contains(text, "./x.csv would be written twice") {
		t.Errorf("status %d\n%s", status, text)
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 4 || slices.ContainsFunc(entries, os.DirEntry.IsDir) {
		t.Errorf("%v, %v", entries, err)
	}
}
