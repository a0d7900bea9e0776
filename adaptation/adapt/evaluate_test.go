package adapt

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/judge"
	"iwda/adaptation/labels"
	"iwda/adaptation/predict"
	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
)

// labelled writes labels of rows of the target and returns the file's path.
func labelled(t *testing.T, class func(row int) string, rows ...int) string {
	t.Helper()
	text := "id,label\n"
	for _, row := range rows {
		text += fmt.Sprintf("%d,%s\n", row, class(row))
	}
	path := filepath.Join(t.TempDir(), "labels.csv")
	testfiles.Write(t, path, text)
	return path
}

// predictedClasses reads the classes of predictions, whose ids are the numbers of the rows.
func predictedClasses(t *testing.T, path string) (classes []string) {
	t.Helper()
	file := must.Have(os.Open(path))(t)
	defer file.Close()
	records := must.Have(csv.NewReader(file).ReadAll())(t)
	for _, record := range records[1:] {
		classes = append(classes, record[1])
	}
	return classes
}

// Labels say how often the predictions are right, and those of each method as iwrun predict has them from
// the method's folder; they choose a method that is clearly better, and none that is not.
func TestEvaluateAndChoose(t *testing.T) {
	source, target := bothDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	ctx := context.Background()
	o := Options{Folder: folder, Set: append(slices.Clone(small), "methods=[source-only, mcc@own]"), LabelRows: 20, Probabilities: true}
	outcome := must.Have(runHere(ctx, source, target, o))(t)
	toLabel := filepath.Join(folder, names.ToLabel)
	if outcome.Files["to_label"] != names.ToLabel || labels.StateOf(toLabel).Touched {
		t.Errorf("%v", outcome.Files)
	}
	// What the method that does not predict would, by its folder.
	other := "mcc@own"
	if outcome.Method == other {
		other = "source-only"
	}
	methodFolder := filepath.Join(folder, names.Runs, "adapt", "full", "source-target", other)
	members := must.Have(model.Trust{}.OpenEnsemble(methodFolder))(t)
	otherFile := filepath.Join(t.TempDir(), "other.csv")
	correct(members, outcome.Correction)
	request := predict.Request{Inputs: []string{target}, Shares: predict.ModelShares, Output: otherFile}
	must.Have(predict.Write(ctx, members, request, predict.Options{Torch: iwrunTorch, Threads: 1, Batch: predict.DefaultBatch}))(t)
	theirs, ours := predictedClasses(t, otherFile), predictedClasses(t, filepath.Join(folder, names.Predictions))
	var differ, all []int
	for row := range ours {
		if all = append(all, row); ours[row] != theirs[row] {
			differ = append(differ, row)
		}
	}
	if len(differ) < 8 {
		t.Fatalf("%s differs from %s in %d rows", other, outcome.Method, len(differ))
	}
	evaluate := func(path string, choose bool) *labels.Evaluation {
		t.Helper()
		return must.Have(evaluateHere(ctx, folder, path, EvaluateOptions{Choose: choose}))(t)
	}
	method := func(e *labels.Evaluation, name string) labels.Method {
		return e.Methods[slices.IndexFunc(e.Methods, func(m labels.Method) bool { return m.Method == name })]
	}
	// By labels that are what is predicted everything is right, and nothing is changed.
	before, _ := os.ReadFile(filepath.Join(folder, names.Outcome))
	e := evaluate(labelled(t, func(row int) string { return ours[row] }, all...), true)
	if e.Predictions.Value != 1 || e.Labels != 120 || !strings.Contains(e.Choice, "nothing was changed") {
		t.Errorf("%+v", e)
	}
	if m := method(e, other); m.Accuracy.Right != len(ours)-len(differ) || m.Difference.Lost != len(differ) || len(m.Runs) != 2 || m.Same {
		t.Errorf("%+v, %d rows differ", m, len(differ))
	}
	// By few labels for the other method it is not clearly better.
	e = evaluate(labelled(t, func(row int) string { return theirs[row] }, differ[:3]...), true)
	if m := method(e, other); m.Difference.Gained != 3 || !strings.Contains(e.Choice, "No method is clearly better") || !strings.Contains(e.Choice, "Nothing was changed") {
		t.Errorf("%+v, %s", m, e.Choice)
	}
	if after, _ := os.ReadFile(filepath.Join(folder, names.Outcome)); string(after) != string(before) {
		t.Error("outcome.json has changed")
	}
	// Labels in a file that would be written anew are refused.
	filled := labelled(t, func(row int) string { return theirs[row] }, all...)
	classes := filepath.Join(folder, names.Classes)
	must.Do(t, os.Remove(classes))
	must.Do(t, os.Link(filled, classes))
	if _, err := evaluateHere(ctx, folder, classes, EvaluateOptions{Choose: true}); !errors.Is(err, wholefile.ErrSame) {
		t.Errorf("labels in %s: %v", classes, err)
	}
	// If not all can be written there is no outcome, which would be of other files.
	report := filepath.Join(folder, names.Report)
	must.Do(t, errors.Join(os.Remove(classes), os.Remove(report), os.Mkdir(report, 0o777)))
	if _, err := evaluateHere(ctx, folder, filled, EvaluateOptions{Choose: true}); err == nil {
		t.Error("the report is written over a folder")
	}
	if _, err := ReadOutcome(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an outcome of other files: %v", err)
	}
	must.Do(t, os.Remove(report))
	if again, err := runHere(ctx, source, target, o); err != nil || again.Method != outcome.Method {
		t.Errorf("%+v, %v", again, err)
	}
	// By many it is, and predicts from then on.
	e = evaluate(filled, true)
	now := must.Have(ReadOutcome(folder))(t)
	if now.Method != other || now.Labels == nil || now.Labels.Labels != 120 || now.Labels.Instead != outcome.Method || len(now.Used) != 2 || !strings.Contains(now.Used[0], "/"+other+"/") {
		t.Errorf("%+v, labels %+v", now, now.Labels)
	}
	if !strings.HasPrefix(now.Headline, "100.0%") || !strings.HasSuffix(now.Headline, "of the predictions are right, by 120 labels") {
		t.Errorf("%q", now.Headline)
	}
	said := now.Decisions[len(now.Decisions)-1].Because
	if e.Choice != said || !strings.HasPrefix(said, other+" predicts, chosen by 120 labelled target rows: its accuracy on the target is 100.0%") {
		t.Errorf("%q, choice %q", said, e.Choice)
	}
	if got := predictedClasses(t, filepath.Join(folder, names.Predictions)); !slices.Equal(got, theirs) {
		t.Error("the predictions are not the other method's")
	}
	if classes, err := table.ClassesOf(filepath.Join(folder, names.Predictions)); err != nil || len(classes) != 2 {
		t.Errorf("probabilities of %q, %v", classes, err)
	}
	if members, err := (model.Trust{}).OpenEnsemble(folder); err != nil || len(members) != 2 {
		t.Errorf("%d models, %v", len(members), err)
	}
	text, err := os.ReadFile(report)
	if err != nil || !strings.Contains(string(text), "120 target labels served only to choose the method") || strings.Contains(string(text), "No target label was used") {
		t.Errorf("the report does not say what chose: %v", err)
	}
	e = evaluate(filled, true)
	if m := method(e, other); !strings.Contains(e.Choice, "nothing was changed") || !m.Same || *m.Accuracy.Estimate != *e.Predictions.Estimate {
		t.Errorf("once more: %s, %+v, predictions %+v", e.Choice, m, e.Predictions)
	}
	// Without the target, the predictions can be evaluated all the same.
	must.Do(t, os.Rename(target, target+".away"))
	if e := evaluate(filled, false); e.Predictions.Value != 1 || e.Methods != nil || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "the target is not there") {
		t.Errorf("%+v", e)
	}
	if _, err := evaluateHere(ctx, folder, filled, EvaluateOptions{Choose: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("choose without the target: %v", err)
	}
}

// overlapping writes two classes that overlap, in other shares, a thousand rows and as many as are asked
// for, and returns the paths of source and target.
func overlapping(t *testing.T, rows int) (source, target string) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	write := func(name string, first, rows int) string {
		text := "x,label\n"
		for i := range rows {
			class := 0
			if i >= first {
				class = 1
			}
			text += fmt.Sprintf("%.4f,%s\n", 2*float64(class)+random.NormFloat64(), []string{"cat", "dog"}[class])
		}
		return writeFile(t, t.TempDir(), name, text)
	}
	source, target = write("source.csv", 700, 1000), write("target.csv", rows/5, rows)
	return source, target
}

// The only method predicts what is predicted, however it is corrected: it is as often right.
func TestMethodsAreCorrectedAlike(t *testing.T) {
	source, target := overlapping(t, 1000)
	folder := filepath.Join(t.TempDir(), "out")
	outcome := must.Have(runHere(context.Background(), source, target, Options{Folder: folder, Set: []string{"methods=[source-only@linear]", "seeds=[1]"}}))(t)
	if outcome.Correction == judge.None {
		t.Error("nothing is corrected")
	}
	e, err := evaluateHere(context.Background(), folder, labelled(t, func(row int) string { return "dog" }, 300, 400, 500), EvaluateOptions{})
	if err != nil || !e.Methods[0].Same {
		t.Errorf("%+v, %v", e, err)
	}
}

// Labels of rows of a target that has changed, or beside another source, say nothing of the methods.
func TestEvaluateRefusesOtherData(t *testing.T) {
	source, target := bothDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	must.Have(runHere(context.Background(), source, target, Options{Folder: folder, Set: []string{"methods=[source-only@linear]", "seeds=[1]"}}))(t)
	text := testfiles.Read(t, target)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Reverse(lines[1:])
	testfiles.Write(t, target, strings.Join(lines, "\n")+"\n")
	filled := labelled(t, func(row int) string { return "dog" }, 60, 70, 80)
	for _, choose := range []bool{false, true} {
		if _, err := evaluateHere(context.Background(), folder, filled, EvaluateOptions{Choose: choose}); err == nil || !strings.Contains(err.Error(), target+", which have changed since") {
			t.Errorf("choose %v: %v", choose, err)
		}
	}
	if e, err := evaluateHere(context.Background(), filepath.Join(folder, names.Predictions), filled, EvaluateOptions{}); err != nil || e.Labels != 3 {
		t.Errorf("the predictions alone: %+v, %v", e, err)
	}
	must.Do(t, os.Remove(source))
	if e, err := evaluateHere(context.Background(), folder, filled, EvaluateOptions{}); err != nil || !strings.Contains(e.Notes[len(e.Notes)-1], "the source is not there") {
		t.Errorf("without the source: %+v, %v", e, err)
	}
}

// What somebody has typed into to_label.csv stays, and predictions of anybody can be evaluated.
func TestLabelsStay(t *testing.T) {
	source, target := bothDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	o := Options{Folder: folder, Set: []string{"methods=[source-only@linear]", "seeds=[1]"}}
	run := func() string {
		t.Helper()
		must.Have(runHere(context.Background(), source, target, o))(t)
		text := testfiles.Read(t, filepath.Join(folder, names.ToLabel))
		return string(text)
	}
	first := run()
	if lines := strings.Count(first, "\n"); lines != 51 || !strings.HasPrefix(first, "id,predicted_class,probability,label\n") {
		t.Errorf("%s", first)
	}
	if second := run(); second != first {
		t.Errorf("drawn again:\n%s\nbefore:\n%s", second, first)
	}
	o.LabelRows = 10
	if fewer := run(); !strings.HasPrefix(first, fewer) || strings.Count(fewer, "\n") != 11 {
		t.Errorf("%s", fewer)
	}
	typed := strings.Replace(first, ",\n", ",dog\n", 1)
	testfiles.Write(t, filepath.Join(folder, names.ToLabel), typed)
	o.LabelRows = 60
	if kept := run(); kept != typed {
		t.Errorf("%s", kept)
	}
	outcome := must.Have(ReadOutcome(folder))(t)
	var shown strings.Builder
	outcome.Print(&shown, "out")
	if text := strings.Join(strings.Fields(shown.String()), " "); !strings.Contains(text, "was kept, with 50 rows instead of 60, because it has labels or was changed. For more rows, rename it,") {
		t.Error(text)
	}
	if next := outcome.next(folder); len(next) != 2 || !strings.HasPrefix(next[0], "label more rows of ") || !strings.HasSuffix(next[0], " (1 of 50 so far), then") {
		t.Errorf("%q", next)
	}
	// They are not those of rows of another target.
	rows := testfiles.Read(t, target)
	testfiles.Write(t, target, strings.Replace(string(rows), "1", "2", 1))
	o.Overwrite = true
	must.Refuse(runHere(context.Background(), source, target, o))(t, names.ToLabel+": has labels of rows of former data")
	if kept, err := os.ReadFile(filepath.Join(folder, names.ToLabel)); string(kept) != typed {
		t.Errorf("%s, %v", kept, err)
	}
	// A folder without an outcome, and the file alone.
	must.Do(t, os.Remove(filepath.Join(folder, names.Outcome)))
	filled := labelled(t, func(row int) string { return "dog" }, 60, 70, 80)
	for _, of := range []string{folder, filepath.Join(folder, names.Predictions)} {
		e, err := evaluateHere(context.Background(), of, filled, EvaluateOptions{})
		if err != nil || e.Labels != 3 || e.Methods != nil {
			t.Errorf("%s: %+v, %v", of, e, err)
		}
		if _, err := evaluateHere(context.Background(), of, filled, EvaluateOptions{Choose: true}); err == nil || !strings.Contains(err.Error(), "no methods to choose from") {
			t.Errorf("%s: %v", of, err)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	o.Folder, o.LabelRows = none, -1
	must.Have(runHere(context.Background(), source, target, o))(t)
	if _, err := os.Stat(filepath.Join(none, names.ToLabel)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("rows to label, of which none were asked for: %v", err)
	}
}
