package labels

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/table"
	"iwda/experiments/report/sheet"
	"iwda/inference/evaluation"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// evaluated are sixty rows, every second of which has a label: the first ten are cats, the others dogs.
func evaluated(t *testing.T, predicted func(row int) string) (Labels, *Predictions) {
	t.Helper()
	var predictions, labels strings.Builder
	predictions.WriteString("id,predicted_class,probability,probability_cat,probability_dog,probability_cow\n")
	labels.WriteString("id,label\n")
	for row := range 60 {
		fmt.Fprintf(&predictions, "r%d,%s,0.75,0,0,0\n", row, predicted(row))
		if row%2 == 0 {
			fmt.Fprintf(&labels, "r%d,%s\n", row, truth(row))
		}
	}
	path := file(t, "predictions.csv", predictions.String())
	classes, err := table.ClassesOf(path)
	if err != nil || strings.Join(classes, " ") != "cat dog cow" {
		t.Errorf("classes %q, %v", classes, err)
	}
	given := must.Have(Read(file(t, "labels.csv", labels.String()), classes, path, ""))(t)
	p := must.Have(Match(path, given))(t)
	return given, p
}

func truth(row int) string {
	if row < 20 {
		return "cat"
	}
	return "dog"
}

func TestEvaluate(t *testing.T) {
	given, p := evaluated(t, func(row int) string {
		if row < 8 {
			return "cow"
		}
		return truth(row)
	})
	e := Evaluate(given, p)
	if a := e.Predictions; e.Rows != 60 || e.Labels != 30 || a.Right != 26 || math.Abs(a.Value-26./30) > 1e-12 || a.Interval != "wilson" || math.Abs(a.Low-0.758348) > 1e-6 || math.Abs(a.High-0.930859) > 1e-6 {
		t.Errorf("%+v", e)
	}
	if r := e.Recalls; len(r) != 2 || r[0].Class != "cat" || r[0].Labels != 10 || r[0].Right != 6 || r[0].Recall.Value != 0.6 || r[1].Right != 20 {
		t.Errorf("%+v", r)
	}
	rival := func(predicted func(row int) string) Method {
		r := NewRival(given, p)
		for row := range 60 {
			must.Do(t, r.Add(fmt.Sprintf("r%d", row), predicted(row), 0.9))
		}
		return must.Have(r.Method("mcc", []string{"full/a-b/mcc/seed-1"}, 1))(t)
	}
	right := rival(truth)
	if d := right.Difference; d.Gained != 4 || d.Lost != 0 || math.Abs(d.P-0.125) > 1e-12 || right.Accuracy.Value != 1 || right.Same {
		t.Errorf("%+v", right)
	}
	same := rival(func(row int) string { return p.of(row) })
	if !same.Same {
		t.Errorf("%+v", same)
	}
	e.Methods = []Method{same, right}
	if best, probability, clear := e.Best(); best.Method != "mcc" || best.Same || math.Abs(probability-0.0625) > 1e-12 || clear {
		t.Errorf("%+v, p = %v, clear: %v", best, probability, clear)
	}
	e.Methods = []Method{same}
	if best, _, clear := e.Best(); best != nil || clear {
		t.Errorf("%+v", best)
	}
	e.Methods = []Method{right}
	var text bytes.Buffer
	must.Do(t, e.Sheet().Write(&text, sheet.Markdown))
	for _, part := range []string{"| the predictions | 26 of 30 |", "| mcc             | 30 of 30 | 100.0", "4, 0", "60.0 (38.7 to 78.1)"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%q is not in\n%s", part, &text)
		}
	}
}

// A labelled disputed.csv of a former version is no random draw; a column of somebody's own says nothing of that.
func TestDisputedRows(t *testing.T) {
	must.Refuse(Read(file(t, "disputed.csv", "id,predicted_class,probability,source-only,mcc@own,label\n1,cat,0.5,cat,dog,dog\n2,cat,0.6,dog,cat,dog\n"), nil, "", ""))(t, "not a random sample")
	if _, err := Read(file(t, "labels.csv", "id,predicted_class,probability,note,label\n1,cat,0.5,,dog\n2,cat,0.5,,cat\n"), nil, "", ""); err != nil {
		t.Error(err)
	}
}

// Of several methods one seems better sooner or later: each counts.
func TestBestOfMany(t *testing.T) {
	given, p := evaluated(t, func(row int) string {
		if row < 10 {
			return "cow"
		}
		return truth(row)
	})
	e := Evaluate(given, p)
	method := func(gained int) Method {
		d := evaluation.Difference{Estimate: evaluation.Estimate{Value: float64(gained) / 30}, Gained: gained, P: 2 / math.Pow(2, float64(gained))}
		return Method{Method: fmt.Sprint(gained), Difference: d}
	}
	e.Methods = []Method{method(6)}
	if _, probability, clear := e.Best(); !clear || math.Abs(probability-1./64) > 1e-12 {
		t.Errorf("one other method: p = %v", probability)
	}
	e.Methods = []Method{method(6), method(1), method(0), method(2)}
	if best, probability, clear := e.Best(); clear || best.Method != "6" || math.Abs(probability-4./64) > 1e-12 {
		t.Errorf("four: %+v, p = %v", best, probability)
	}
	if notes := e.Notes; len(notes) != 0 {
		t.Errorf("%q", notes)
	}
}

// evaluationOf evaluates the predictions of a file by the labels of another one.
func evaluationOf(t *testing.T, predictions, labels string) *Evaluation {
	t.Helper()
	path := file(t, "predictions.csv", predictions)
	given := must.Have(Read(file(t, "labels.csv", labels), nil, path, ""))(t)
	p := must.Have(Match(path, given))(t)
	return Evaluate(given, p)
}

// Labels of whole groups tell no more than so many groups: in all intervals, and in the test between methods.
func TestGroups(t *testing.T) {
	var predictions, written strings.Builder
	predictions.WriteString("id,predicted_class,probability\n")
	written.WriteString("id,patient,label\n")
	for row := range 240 {
		patient := row / 12
		fmt.Fprintf(&predictions, "%d,%s,0.75\n", row, map[bool]string{true: "cat", false: "dog"}[patient%4 > 0])
		if patient < 10 {
			fmt.Fprintf(&written, "%d,p%d,cat\n", row, patient)
		}
	}
	path, labels := file(t, "predictions.csv", predictions.String()), file(t, "labels.csv", written.String())
	evaluated := func(groups string) (*Evaluation, Method) {
		given := must.Have(Read(labels, nil, path, groups))(t)
		p := must.Have(Match(path, given))(t)
		rival := NewRival(given, p)
		for row := range 240 {
			must.Do(t, rival.Add(fmt.Sprint(row), "cat", 0.75))
		}
		m := must.Have(rival.Method("mcc", nil, 1))(t)
		return Evaluate(given, p), m
	}
	alone, better := evaluated("")
	together, less := evaluated("patient")
	if p := together.Predictions; p.Value != alone.Predictions.Value || p.High-p.Low < 2*(alone.Predictions.High-alone.Predictions.Low) {
		t.Errorf("accuracy %+v of rows, %+v of groups", alone.Predictions.Estimate, p.Estimate)
	}
	for i, share := range together.Shares {
		if of, by := share.Share, alone.Shares[i].Share; of.High-of.Low <= by.High-by.Low {
			t.Errorf("share of %s: %+v of rows, %+v of groups", share.Class, by, of)
		}
	}
	if of, by := together.Recalls[0].Recall, alone.Recalls[0].Recall; of.High-of.Low < 2*(by.High-by.Low) {
		t.Errorf("recall %+v of rows, %+v of groups", by, of)
	}
	if better.Difference.P > 1e-6 || less.Difference.P < 0.05 { // three of ten patients say that mcc is better
		t.Errorf("p = %v of rows, %v of groups", better.Difference.P, less.Difference.P)
	}
	must.Refuse(Read(labels, nil, path, "patients"))(t, `:1: no column is "patients"`)
}

// The intervals of several methods hold together.
func TestSeveralMethods(t *testing.T) {
	given, p := evaluated(t, truth)
	r := NewRival(given, p)
	for row := range 60 {
		must.Do(t, r.Add(fmt.Sprintf("r%d", row), map[bool]string{true: "cow", false: truth(row)}[row < 10], 0.9))
	}
	one := must.Have(r.Method("mcc", nil, 1))(t)
	several := must.Have(r.Method("mcc", nil, 20))(t)
	if of, by := one.Accuracy, several.Accuracy; by.Low >= of.Low || by.High <= of.High {
		t.Errorf("accuracy %+v of one, %+v of twenty", of.Estimate, by.Estimate)
	}
	if of, by := one.Difference, several.Difference; by.Low >= of.Low || by.High <= of.High || of.P != by.P {
		t.Errorf("difference %+v of one, %+v of twenty", of, by)
	}
}

// A class that is never predicted may be one that is written in another way.
func TestLabelThatIsNotPredicted(t *testing.T) {
	if e := evaluationOf(t, "id,predicted_class,probability\n1,cat,0.5\n2,dog,0.75\n3,dog,1\n", "id,label\n1,cat\n2,dgo\n"); e.Predictions.Right != 1 || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], `"dgo", the true class of 1 labelled row.`) || e.Recalls[0].Recall != nil {
		t.Errorf("%+v", e)
	}
}

// The class 2 is 2.0, as predictions write it.
func TestLabelsWithZeros(t *testing.T) {
	e := evaluationOf(t, "id,predicted_class,probability\n1,2.0,0.5\n2,1.0,0.75\n3,2.0,1\n", "id,label\n1,2\n2,1.0\n3,2.00\n")
	if e.Predictions.Right != 3 || len(e.Recalls) != 2 || e.Recalls[1].Class != "2.0" {
		t.Errorf("%+v", e)
	}
}

// The order of rows and of columns changes nothing.
func TestEvaluationOfAnotherOrder(t *testing.T) {
	predictions, labels := "id,predicted_class,probability,note\n", "id,label,note\n"
	for row := range 80 {
		predictions += fmt.Sprintf("r%d,%s,0.%d,x\n", row, truth(row/2), 50+row%40)
		if row%3 > 0 {
			labels += fmt.Sprintf("r%d,%s,y\n", row, truth(row/3))
		}
	}
	shown := func(predictions, labels string) string {
		var b bytes.Buffer
		must.Do(t, evaluationOf(t, predictions, labels).Sheet().Write(&b, sheet.Markdown))
		return b.String()
	}
	want := shown(predictions, labels)
	other := func(text string) string {
		return testfiles.Cells(t, text, func(rows [][]string) {
			slices.Reverse(rows[1:])
			for _, row := range rows {
				slices.Reverse(row)
			}
		})
	}
	for _, c := range [][2]string{{other(predictions), labels}, {predictions, other(labels)}} {
		if got := shown(c[0], c[1]); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// Labels are of rows that are there, once.
func TestMatch(t *testing.T) {
	given := must.Have(Read(file(t, "labels.csv", "id,label\n1,cat\n2,dog\n"), nil, "", ""))(t)
	for text, want := range map[string]string{
		"id,predicted_class,probability\n1,cat,0.5\n3,cat,0.5\n":        given.Path + `:3: id "2" is not among the 2 rows of PATH`,
		"id,predicted_class,probability\n1,cat,0.5\n2,a,1\n1,cat,0.5\n": `PATH:4: two rows have the id "1", and ` + given.Path + ":2 has a label for one of them: give the target's rows unique ids",
		"id,predicted_class,probability\n0001,cat,0.5\n0002,cat,0.5\n":  given.Path + `:2: id "1" is not among the 2 rows of PATH; "0001" is one: write ids unchanged, in a spreadsheet as text`,
		"id,predicted_class,probability\n1,cat,half\n":                  `PATH:2: id "1": the probability is "half"`,
		"id,class\n1,cat\n": `PATH:1: the columns are ["id" "class"]; want id, predicted_class and probability`,
		"id,predicted_class,probability\n1,cat,0.5\n2,dog,1\n2,dog,1,dog\n": "PATH:4: 4 columns",
	} {
		path := file(t, "predictions.csv", text)
		if _, err := Match(path, given); err == nil || !strings.HasPrefix(err.Error(), strings.ReplaceAll(want, "PATH", path)) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// A target that has changed since is an error.
func TestOtherTarget(t *testing.T) {
	given, p := evaluated(t, truth)
	r := NewRival(given, p)
	must.Fail(t, r.Add("another", "cat", 1), `row 0 of the target has the id "another"`)
	must.Refuse(r.Method("mcc", nil, 1))(t, "the target has 0 rows, but "+p.Path+" has 60: the target has changed since")
}

// Recalls stand in the order of classes in all other files.
func TestOrderOfRecalls(t *testing.T) {
	if r := evaluationOf(t, "id,predicted_class,probability\na,1,1\nb,2,1\nc,10,1\n", "id,label\na,10\nb,2\nc,1\n").Recalls; r[0].Class != "1" || r[1].Class != "2" || r[2].Class != "10" {
		t.Errorf("%+v", r)
	}
}

// An id is the same in the target, in what was predicted, and in the rows to label.
func TestIDsAreTheSameInAllFiles(t *testing.T) {
	given := []string{"a\r\nb0", "a\nb1", "a\rb2", "a\r\r\nb3", " b4\r\n", "=b5", "'=b6", "\t=b7"}
	folder := t.TempDir()
	predictions := filepath.Join(folder, "predictions.csv")
	if _, err := table.WritePredictions(predictions, table.Predictions{Classes: []string{"cat", "dog"}}, func(add table.Add) error {
		for _, id := range given {
			if err := add(id, []float32{0.75, 0.25}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	filled := filepath.Join(folder, "to_label.csv")
	must.Do(t, table.WriteTable(filled, []string{"id", "label"}, func(line func(...string) error) error {
		for _, id := range given {
			if err := line(id, "cat"); err != nil {
				return err
			}
		}
		return nil
	}))
	labels := must.Have(Read(filled, nil, "", ""))(t)
	p, err := Match(predictions, labels)
	if err != nil {
		t.Fatal(err)
	}
	rival := NewRival(labels, p)
	for _, id := range given {
		if err := rival.Add(id, "cat", 0.75); err != nil {
			t.Error(err)
		}
	}
}
