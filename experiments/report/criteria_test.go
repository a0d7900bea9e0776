package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"iwda/adaptation/judge"
	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
	"iwda/inference/selection"
	"iwda/internal/must"
)

// Means over tasks are of what each criterion chose there, and what is not known counts for
// nothing.
func TestCriteria(t *testing.T) {
	nan := math.NaN()
	s := comparison{choices: []choice{
		{variant: "full", task: "a-b", criterion: "im", run: "dann/seed-1", method: "dann", chosen: 70, best: 80},
		{variant: "full", task: "b-a", criterion: "im", run: "iwdan/seed-2", method: "iwdan", chosen: 90, best: 92},
		{variant: "full", task: "c-a", criterion: "im", run: "iwdan/seed-2", method: "iwdan", chosen: nan, best: nan},
	}}.sheet("digits")
	var text strings.Builder
	must.Do(t, s.Write(&text, sheet.Markdown))
	squeezed := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"| im | 2 | 80.00 | 6.00 | 10.00 |",
		"| full | a-b | im | dann/seed-1 | 70.00 | 80.00 | 10.00 |",
		"| iwdan/seed-2 | 90.00 | 92.00 | 2.00 |",
	} {
		if !strings.Contains(squeezed, want) {
			t.Errorf("no line %q in\n%s", want, text.String())
		}
	}
	const columns = "variant,task,criterion,run,method,chosen,best,regret"
	if fields := strings.Join(s.Records.Fields, ","); fields != columns || len(s.Records.Rows) != 3 {
		t.Errorf("records of %s, %d rows", fields, len(s.Records.Rows))
	}
}

// Of targets without labels there are choices and no numbers.
func TestCriteriaWithoutLabels(t *testing.T) {
	nan := math.NaN()
	s := comparison{choices: []choice{{variant: "full", task: "a-b", criterion: "im", run: "dann/seed-2", method: "dann",
		chosen: nan, best: nan}}}.sheet("mine")
	var text strings.Builder
	must.Do(t, s.Write(&text, sheet.Markdown))
	if squeezed := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(squeezed, "| full | a-b | im | dann/seed-2 |") || strings.Contains(squeezed, "–") || strings.Contains(squeezed, "NaN") {
		t.Error(text.String())
	}
	if fields := strings.Join(s.Records.Fields, ","); fields != "variant,task,criterion,run,method" || len(s.Records.Rows) != 1 {
		t.Errorf("records of %s, %d rows", fields, len(s.Records.Rows))
	}
}

// finished writes what a run of two classes leaves to choose by: its accuracy in parts of 1, and
// logits of a hundred held-out rows, of which it tells every nth wrong, and of as many target
// rows, of which it gives that many the second class. Labels are those of the target's rows, -1
// where they are not known.
func finished(t *testing.T, root, method string, seed int64, accuracy float64, nth, second, label int) store.Run {
	t.Helper()
	result := resultOf("full", "mnist-usps", method, seed, accuracy, accuracy)
	result.ID = store.ID{Variant: "full", Task: "mnist-usps", Method: method, Seed: seed}.String()
	if label < 0 {
		result.BestAccuracy, result.LastAccuracy = store.Optional[float64]{}, store.Optional[float64]{}
		result.WithoutLabels = &store.WithoutLabels{}
	}
	dir := store.NewDir(root, "digits", result.ID)
	must.Do(t, dir.Begin())
	outputs := store.Outputs{Classes: 2}
	for i := range 100 {
		class, predicted := i%2, i%2
		if i%nth == 0 {
			predicted = 1 - class
		}
		outputs.HeldOut = append(outputs.HeldOut, 2*float32(1-predicted), 2*float32(predicted)+0.01*float32(i%7))
		outputs.HeldOutLabels = append(outputs.HeldOutLabels, class)
		predicted = 0
		if i < second {
			predicted = 1
		}
		outputs.Target = append(outputs.Target, 2*float32(1-predicted), 2*float32(predicted)+0.01*float32(i%5))
		outputs.TargetLabels = append(outputs.TargetLabels, label)
	}
	must.Do(t, dir.WriteOutputs(outputs))
	return store.Run{Dir: dir, Result: result}
}

func oneTask() config.Config {
	experiment := digitsSample()
	experiment.Tasks, experiment.Variants = []string{"mnist-usps"}, []string{"full"}
	experiment.Methods, experiment.Seeds = []string{"source-only", "iwdan", "dann"}, []int64{1, 2}
	return experiment
}

// What is shown is what a comparison chooses among the same runs, methods in the order of the
// experiment, with the experiment's tolerance, and measured by the labels.
func TestCompareCriteria(t *testing.T) {
	root := t.TempDir()
	runs := []store.Run{ // in another order
		finished(t, root, "dann", 1, 0.5, 9, 30, 1), finished(t, root, "dann", 2, 0.6, 11, 50, 1),
		finished(t, root, "iwdan", 1, 0.9, 10, 70, 1), finished(t, root, "iwdan", 2, 0.7, 30, 80, 1),
		finished(t, root, "source-only", 1, 0.65, 20, 65, 1),
	}
	for _, tolerance := range []float64{0, 0.9} {
		experiment := oneTask()
		experiment.Selection.Tolerance = tolerance
		c, err := compareCriteria(runs, experiment)
		if err != nil || len(c.choices) != len(selection.Names()) {
			t.Fatalf("%d choices, %v, %v", len(c.choices), c.notes, err)
		}
		var candidates []judge.Candidate
		for _, i := range []int{4, 2, 3, 0, 1} {
			candidate := must.Have(judge.Read(runs[i]))(t)
			candidates = append(candidates, candidate)
		}
		compared, _ := must.Both(judge.New(candidates))(t)
		accuracies := map[string]float64{"source-only/seed-1": 65, "iwdan/seed-1": 90, "iwdan/seed-2": 70, "dann/seed-1": 50, "dann/seed-2": 60}
		for i, got := range c.choices {
			want := must.Have(compared.Choose(selection.Names()[i], tolerance))(t)
			if got.criterion != want.Rule || "full/mnist-usps/"+got.run != want.Judged[want.Used].Run || got.method != want.Method().Name {
				t.Errorf("tolerance %v: %+v, want %s by %s", tolerance, got, want.Judged[want.Used].Run, want.Rule)
			}
			if math.Abs(got.chosen-accuracies[got.run]) > 1e-9 || got.best != 90 || math.Abs(got.regret()-90+got.chosen) > 1e-9 {
				t.Errorf("%+v", got)
			}
		}
		if last := c.choices[0]; tolerance == 0.9 && last.method != "dann" {
			t.Errorf("by target-risk with a wide tolerance %s, and dann is listed last", last.method)
		}
	}
}

// A target without labels leaves nothing to measure, but the choices are the same.
func TestChoicesOnUnlabelledTargets(t *testing.T) {
	root := t.TempDir()
	measured := []store.Run{finished(t, root, "source-only", 1, 0.65, 20, 65, 1), finished(t, root, "dann", 1, 0.5, 9, 30, 1)}
	labelled := must.Have(compareCriteria(measured, oneTask()))(t)
	runs := []store.Run{finished(t, root, "source-only", 1, 0, 20, 65, -1), finished(t, root, "dann", 1, 0, 9, 30, -1)}
	c, err := compareCriteria(runs, oneTask())
	if err != nil {
		t.Fatalf("%+v, %v", c, err)
	}
	want := slices.Clone(labelled.choices)
	for i := range want {
		for _, number := range []*float64{&want[i].chosen, &want[i].best} {
			*number = math.NaN()
		}
	}
	if diff := cmp.Diff(want, c.choices, cmpopts.EquateNaNs(), cmp.AllowUnexported(choice{})); diff != "" {
		t.Error(diff)
	}
	// Labels that came later leave what was run before out: it has no accuracy to compare.
	c, err = compareCriteria([]store.Run{measured[0], runs[1]}, oneTask())
	if err != nil || len(c.choices) == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, choice := range c.choices {
		if choice.run != "source-only/seed-1" {
			t.Errorf("%+v", choice)
		}
	}
}

// A run that allows no calibration is named in a note, and the others are compared.
func TestRunWithoutCalibration(t *testing.T) {
	root := t.TempDir()
	runs := []store.Run{finished(t, root, "source-only", 1, 0.65, 20, 65, 1), finished(t, root, "dann", 1, 0.5, 9, 30, 1)}
	alone := must.Have(compareCriteria(runs[1:], oneTask()))(t)
	outputs := must.Have(runs[0].Dir.ReadOutputs())(t)
	outputs.HeldOut[0] = float32(math.NaN())
	must.Do(t, runs[0].Dir.WriteOutputs(outputs))
	c, err := compareCriteria(runs, oneTask())
	if diff := cmp.Diff(alone.choices, c.choices, cmpopts.EquateNaNs(), cmp.AllowUnexported(choice{})); err != nil || diff != "" {
		t.Error(diff, err)
	}
	if notes := strings.Join(c.notes, " "); !strings.Contains(notes, "source-only/seed-1: calibration on held-out source rows") {
		t.Errorf("%q", notes)
	}
}

// Runs without anything to choose by, and tasks whose runs cannot be compared, are named in notes.
func TestCriteriaThatCannotBeCompared(t *testing.T) {
	root := t.TempDir()
	experiment := digitsSample()
	experiment.Variants, experiment.Seeds = []string{"full"}, []int64{1}
	without := resultOf("full", "usps-mnist", "dann", 1, 0.5, 0.5)
	without.ID = "full/usps-mnist/dann/seed-1"
	spoilt := finished(t, root, "dann", 1, 0.5, 9, 30, 1)
	outputs := must.Have(spoilt.Dir.ReadOutputs())(t)
	outputs.Target[6] = float32(math.NaN())
	must.Do(t, spoilt.Dir.WriteOutputs(outputs))
	c, err := compareCriteria([]store.Run{spoilt, {Dir: store.NewDir(root, "digits", without.ID), Result: without}}, experiment)
	if err != nil || len(c.choices) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	notes := strings.Join(c.notes, "\n")
	for _, want := range []string{"full, mnist-usps: full/mnist-usps/dann/seed-1: the target's class shares: weightest: invalid row: target row 3 gives class 0 the probability NaN", "full, usps-mnist: 1 run without held-out source rows"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes\n%s\nlack %q", notes, want)
		}
	}
}
