package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

// approximately ignores the error of the arithmetic and takes NaN for NaN.
var approximately = cmp.Options{cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateNaNs()}

func compare(results []store.Result, experiment config.Config) Accuracies {
	return CompareAccuracies(Select(runsWith(results...), experiment))
}

func group(t *testing.T, a Accuracies, variant, task string) map[string]Row {
	t.Helper()
	rows := map[string]Row{}
	for _, r := range a.Rows {
		if r.Variant == variant && r.Task == task {
			r.Variant, r.Task = "", ""
			rows[r.Method] = r
		}
	}
	if len(rows) > 0 {
		return rows
	}
	t.Fatalf("no group %s, %s", variant, task)
	return nil
}

// tasks are those of a variant's rows.
func tasks(a Accuracies, variant string) (tasks []string) {
	for _, r := range a.Rows {
		if r.Variant == variant {
			tasks = append(tasks, r.Task)
		}
	}
	return slices.Compact(tasks)
}

func TestCompareAccuracies(t *testing.T) {
	a := compare(digitsResults(), digitsSample())
	nan := math.NaN()
	for _, test := range []struct {
		task string
		want Row
	}{
		{"usps-mnist", Row{Method: "source-only", Seeds: 1, Planned: 3, Paper: Score{75.32, nan, nan, nan},
			Scores: [views]Score{Score{70, nan, nan, nan}, Score{65, nan, nan, nan}}}},
		{"usps-mnist", Row{Method: "dann", Seeds: 3, Planned: 3, Paper: Score{87.46, nan, nan, nan},
			Scores: [views]Score{Score{84, 4, nan, nan}, Score{80, 2, nan, nan}}}},
		{"usps-mnist", Row{Method: "iwdan", Seeds: 3, Planned: 3, Pairs: 3, Paper: Score{93.32, nan, 100, nan},
			Scores: [views]Score{Score{86, math.Sqrt(63), 100. / 3, 100. / 3}, Score{76.333333, 5.507570, 100. / 3, 100. / 3}}}},
		{"mnist-usps", Row{Method: "source-only", Seeds: 0, Planned: 3, Paper: Score{76.02, nan, nan, nan},
			Scores: [views]Score{Score{nan, nan, nan, nan}, Score{nan, nan, nan, nan}}}},
		{"mnist-usps", Row{Method: "dann", Seeds: 2, Planned: 3, Paper: Score{79.03, nan, nan, nan},
			Scores: [views]Score{Score{72, math.Sqrt(8), nan, nan}, Score{60, 0, nan, nan}}}},
		{"mnist-usps", Row{Method: "iwdan", Seeds: 2, Planned: 3, Pairs: 1, Paper: Score{91.77, nan, 100, nan},
			Scores: [views]Score{Score{91, math.Sqrt(2), 100, 0}, Score{90.5, math.Sqrt(0.5), 100, 0}}}},
		{paper.Average, Row{Method: "source-only", Seeds: 1, Planned: 6, Paper: Score{75.67, nan, nan, nan},
			Scores: [views]Score{Score{nan, nan, nan, nan}, Score{nan, nan, nan, nan}}}},
		{paper.Average, Row{Method: "dann", Seeds: 5, Planned: 6, Paper: Score{83.24, nan, nan, nan},
			Scores: [views]Score{Score{78, nan, nan, nan}, Score{70, nan, nan, nan}}}},
		{paper.Average, Row{Method: "iwdan", Seeds: 5, Planned: 6, Pairs: 4, Paper: Score{92.54, nan, 100, nan},
			Scores: [views]Score{Score{88.5, nan, 50, 25}, Score{83.4166665, nan, 50, 25}}}},
	} {
		got := group(t, a, "subsampled", test.task)[test.want.Method]
		test.want.Scores[Corrected] = Score{nan, nan, nan, nan} // of results of former versions
		if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-5), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s, %s:\n%s", test.task, test.want.Method, diff)
		}
	}
	if got := group(t, a, "subsampled", paper.Average)["dann"].Difference(); math.Abs(got+5.24) > 1e-9 {
		t.Errorf("difference from the paper: %v, want 78 - 83.24", got)
	}
	var methods []string
	for _, row := range a.Average("subsampled") {
		methods = append(methods, row.Method)
	}
	if diff := cmp.Diff([]string{"source-only", "dann", "iwdan"}, methods); diff != "" {
		t.Errorf("order of rows:\n%s", diff)
	}
	wantNotes := []string{"No finished run of full, usps-mnist.", "12 of 36 runs are finished."}
	if diff := cmp.Diff(wantNotes, a.Notes); diff != "" {
		t.Error(diff)
	}
	if got := tasks(a, "full"); len(got) != 1 || len(a.Average("full")) > 0 {
		t.Errorf("variant full has the tasks %q, want one: an average over one of two tasks is none", got)
	}
}

// A result without accuracies, and without what needs no labels, changes nothing, and is named.
func TestResultsThatSayNothing(t *testing.T) {
	want := compare(digitsResults(), digitsSample())
	got := compare(append(digitsResults(), store.Result{Experiment: "digits", Variant: "full", Task: "mnist-usps", Method: "dann", Seed: 2}), digitsSample())
	if diff := cmp.Diff(want.Rows, got.Rows, approximately); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(want.Notes, "Left out: full/mnist-usps/dann/seed-2 (its accuracy was not measured)."), got.Notes); diff != "" {
		t.Error(diff)
	}
}

func TestPaperNotes(t *testing.T) {
	experiment := digitsSample()
	experiment.Dataset.Name = "office31"
	experiment.Tasks = []string{"dslr-webcam"}
	experiment.Methods = []string{"iwjan"}
	a := compare([]store.Result{resultOf("subsampled", "dslr-webcam", "iwjan", 1, 1, 1)}, experiment)
	if notes := strings.Join(a.Notes, "\n"); !strings.Contains(notes, "The paper's row of subsampled, iwjan") {
		t.Errorf("notes: %s", notes)
	}
	if got := tasks(a, "subsampled"); len(got) != 1 || len(a.Average("subsampled")) != 1 {
		t.Errorf("the tasks are %q, of one", got)
	}
}

// Weights of ImageNet are of interest beside the paper's numbers, where there are such.
func TestNoteOfPretrainedWeights(t *testing.T) {
	experiment := digitsSample()
	experiment.Network.Pretrained = config.NotPretrained
	for dataset, want := range map[string]bool{"office31": true, "files": false} {
		experiment.Dataset.Name = dataset
		if notes := strings.Join(compare(nil, experiment).Notes, " "); strings.Contains(notes, "ImageNet") != want {
			t.Errorf("%s: notes %s", dataset, notes)
		}
	}
}

func TestAverageOfSomeTasksStandsAlone(t *testing.T) {
	experiment := digitsSample()
	experiment.Dataset.Name = "office31"
	experiment.Tasks = []string{"amazon-dslr", "dslr-webcam"}
	a := compare([]store.Result{
		resultOf("full", "amazon-dslr", "dann", 1, 0.5, 0.5), resultOf("full", "dslr-webcam", "dann", 1, 0.7, 0.7),
	}, experiment)
	row := group(t, a, "full", paper.Average)["dann"]
	if math.Abs(row.Scores[Best].Mean-60) > 1e-9 || !math.IsNaN(row.Paper.Mean) {
		t.Errorf("average of 2 of 6 tasks: %v beside the paper's %v", row.Scores[Best].Mean, row.Paper.Mean)
	}
}

func TestGains(t *testing.T) {
	got := Gains(Select(runsWith(shiftResults()...), shiftSample()))
	want := []Gain{
		{Task: "mnist-usps", Method: "iwdan", Base: "dann", Planned: 3, Points: []GainPoint{
			{Variant: "source-1", JSD: 0.02, Accuracy: [2]float64{90, 90}, Base: [2]float64{80, 70}, Compared: [2]int{1, 1}, Seeds: 1},
			{Variant: "target-1", JSD: 0.06, Accuracy: [2]float64{83, 83}, Base: [2]float64{85, 85}, Compared: [2]int{-1, -1}, Seeds: 1},
		}},
		{Task: "mnist-usps", Method: "iwcdan", Base: "cdan", Planned: 3, Points: []GainPoint{
			{Variant: "target-1", JSD: 0.06, Accuracy: [2]float64{70, 70}, Base: [2]float64{70, 70}, Compared: [2]int{0, 0}, Seeds: 1},
		}},
	}
	if diff := cmp.Diff(want, got, approximately); diff != "" {
		t.Fatal(diff)
	}
	if best, last := got[0].Mean(Best), got[0].Mean(Last); math.Abs(best-4) > 1e-9 || math.Abs(last-9) > 1e-9 {
		t.Errorf("mean gains %v, %v, want 4 and 9", best, last)
	}
	if gains := Gains(Select(runsWith(digitsResults()...), digitsSample())); gains != nil {
		t.Errorf("gains without class fractions: %v", gains)
	}
}

func TestConfusions(t *testing.T) {
	s := Select(runsWith(detailed(digitsResults())...), digitsSample())
	var all []Confusion
	for variant, task := range s.NamedTasks() {
		all = append(all, s.Confusions(variant, task)...)
	}
	names := ""
	for _, c := range all {
		names += fmt.Sprintf("%s %s %s, %d; ", c.Variant, c.Task, c.Name(), c.Seeds)
	}
	want := "full mnist-usps iwdan, 1; subsampled mnist-usps dann, 2; subsampled mnist-usps iwdan, 2; " +
		"subsampled usps-mnist source-only, 1; subsampled usps-mnist source-only (paper), 0; subsampled usps-mnist dann, 3; " +
		"subsampled usps-mnist dann (paper), 0; subsampled usps-mnist iwdan, 3; subsampled usps-mnist iwdan (paper), 0; "
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if row := all[0].Percent[0]; row[0] != 90 || row[9] != 10 || all[0].Percent[1][2] != 100 {
		t.Errorf("percentages %v, %v", row, all[0].Percent[1])
	}
}

// Accuracies of corrected probabilities are summed up as the others are, where every run
// has one.
func TestCorrectedAccuracies(t *testing.T) {
	results := digitsResults()
	if slices.Contains(compare(results, digitsSample()).Shown(), Corrected) {
		t.Error("results without corrected accuracies have some")
	}
	for i := range results {
		results[i].CorrectedAccuracy = results[i].BestAccuracy
	}
	a := compare(results, digitsSample())
	if !slices.Contains(a.Shown(), Corrected) {
		t.Error("no corrected accuracies")
	}
	for _, task := range []string{"usps-mnist", "mnist-usps", paper.Average} {
		for method, row := range group(t, a, "subsampled", task) {
			if diff := cmp.Diff(row.Scores[Best], row.Scores[Corrected], approximately); diff != "" {
				t.Errorf("%s, %s:\n%s", task, method, diff)
			}
		}
	}
	results[len(results)-1].CorrectedAccuracy = store.Optional[float64]{}
	last := results[len(results)-1]
	if row := group(t, compare(results, digitsSample()), last.Variant, last.Task)[last.Method]; !math.IsNaN(row.Scores[Corrected].Mean) {
		t.Errorf("%v of runs of which one has no corrected accuracy", row.Scores[Corrected])
	}
	for i, r := range results {
		if r.Variant == "subsampled" && r.Task == "usps-mnist" && r.Method == "dann" && r.Seed == 1 {
			results[i].CorrectedAccuracy = store.Optional[float64]{}
		}
	}
	row := group(t, compare(results, digitsSample()), "subsampled", "usps-mnist")["iwdan"]
	want := row.Scores[Best]
	want.Wins, want.Ties = math.NaN(), math.NaN()
	if diff := cmp.Diff(want, row.Scores[Corrected], approximately); diff != "" {
		t.Errorf("without the base's corrected accuracy of a seed:\n%s", diff)
	}
}
