package summary

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/report/internal/sample"
	"iwda/experiments/store"
	"iwda/selection"
)

// judgedAs writes what a run of two classes leaves to choose by: its accuracies, mean losses
// of class 1, im and unexplained shares after epochs 0, 1, 2 and 3, and predictions of four rows.
func judgedAs(t *testing.T, root, method string, accuracies, losses, im, unexplained [4]float64, predicted [4]int) store.Run {
	t.Helper()
	result := sample.Result("full", "mnist-usps", method, 1, max(accuracies[1], accuracies[2], accuracies[3]), accuracies[3])
	result.ID = "full/mnist-usps/" + method + "/seed-1"
	result.WithoutLabels = &store.WithoutLabels{LikelyShares: []float64{0.2, 0.8}, LabelShiftP: store.Measured(0.01)}
	dir := store.NewDir(root, "digits", result.ID)
	if err := dir.Begin(); err != nil {
		t.Fatal(err)
	}
	var metrics []store.Metrics
	var evidence []store.Evidence
	for epoch := range 4 {
		metrics = append(metrics, store.Metrics{
			Epoch: epoch, Step: 10 * epoch, Accuracy: store.Measured(accuracies[epoch]),
			Criteria: map[string]float64{"im": im[epoch], "unexplained": unexplained[epoch]},
		})
		evidence = append(evidence, store.Evidence{Epoch: epoch, Step: 10 * epoch, Evidence: selection.Evidence{
			Losses: []float64{1, losses[epoch]}, Errors: []float64{0, 0.6}, Shares: []float64{0.2, 0.8}, Estimated: []float64{0.5, 0.5},
		}})
	}
	outputs := store.Outputs{Classes: 2, HeldOut: []float32{1, 0, 0, 1, 1, 0, 0, 1}, HeldOutLabels: []int{0, 1, 1, 0}}
	for _, class := range predicted {
		outputs.Target = append(outputs.Target, float32(1-class), float32(class))
		outputs.TargetLabels = append(outputs.TargetLabels, -1)
	}
	for _, err := range []error{dir.WriteMetrics(metrics), dir.WriteEvidence(evidence), dir.WriteOutputs(outputs)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return store.Run{Dir: dir, Result: result}
}

func TestCompareCriteria(t *testing.T) {
	root := t.TempDir()
	experiment := sample.Digits()
	experiment.Tasks, experiment.Variants, experiment.Seeds = []string{"mnist-usps"}, []string{"full"}, []int64{1}
	runs := []store.Run{
		judgedAs(t, root, "source-only", [4]float64{0.99, 0.5, 0.7, 0.6}, [4]float64{0, 3, 1, 2}, [4]float64{9, 1, 2, 3}, [4]float64{0, 0.5, 0.5, 0.5}, [4]int{0, 1, 1, 0}),
		judgedAs(t, root, "dann", [4]float64{0.1, 0.6, 0.8, 0.9}, [4]float64{0, 1, 3, 2.5}, [4]float64{0, 3, 1, 2}, [4]float64{9, 4, 0.1, 0.05}, [4]int{0, 1, 1, 1}),
		judgedAs(t, root, "iwdan", [4]float64{0.1, 0.6, 0.8, 0.8}, [4]float64{0, 3, 2, 2.25}, [4]float64{0, 3, 1, 1}, [4]float64{9, 2, 1, 1}, [4]int{0, 0, 0, 0}),
	}
	c, err := CompareCriteria(runs, experiment)
	if err != nil {
		t.Fatal(err)
	}
	epochs := map[string]EpochChoice{}
	for _, e := range c.Epochs {
		epochs[e.Criterion] = e
	}
	// iwv-y takes epochs 2, 1 and 2; target-risk, whose risks are 0.2 + 0.8·loss + unexplained,
	// takes epochs 2, 3 (2.25 against 2.7 and 5) and 2; im 3, 1 and 1. The last one's risk is above
	// the lowest by 0.8, 1.2 and 0.2, and guarded-risk asks for 1.5 · √2 · 0.8 · 0.6 = 1.02.
	for name, want := range map[string]EpochChoice{
		"iwv-y":               {Runs: 3, Chosen: (70 + 60 + 80) / 3., Best: 80, Last: (60 + 90 + 80) / 3., Regret: 10, WorstRegret: 30, WorstLoss: 30},
		selection.TargetRisk:  {Runs: 3, Chosen: 80, Best: 80, Last: (60 + 90 + 80) / 3., Regret: 0, WorstRegret: 0, WorstLoss: 0},
		selection.GuardedRisk: {Runs: 3, Chosen: (60 + 60 + 80) / 3., Best: 80, Last: (60 + 90 + 80) / 3., Regret: 40 / 3., WorstRegret: 30, WorstLoss: 30},
		"im":                  {Runs: 3, Chosen: 60, Best: 80, Last: (60 + 90 + 80) / 3., Regret: 20, WorstRegret: 30, WorstLoss: 30},
	} {
		got := epochs[name]
		want.Criterion, want.Correlation, want.Each = name, got.Correlation, got.Each
		if diff := cmp.Diff(want, got, approximately); diff != "" {
			t.Errorf("epochs by %s:\n%s", name, diff)
		}
	}
	// Ranks by iwv-y, best last: (0,2,1), (2,0,1), (0,2,1); of accuracies: (0,2,1), (0,1,2), (0,1.5,1.5).
	if want := (1 - 0.5 + math.Sqrt(0.75)) / 3; math.Abs(epochs["iwv-y"].Correlation-want) > 1e-9 {
		t.Errorf("rank correlation of iwv-y %v, want %v", epochs["iwv-y"].Correlation, want)
	}
	if _, there := epochs["entropy"]; there || len(epochs) != 6 {
		t.Errorf("%d rules, of which six were measured: %v", len(epochs), c.Epochs)
	}
	runsBy := map[string]RunChoice{}
	for _, r := range c.Runs {
		runsBy[r.Criterion] = r
	}
	for name, want := range map[string]string{"iwv-y": "source-only/seed-1", selection.TargetRisk: "dann/seed-1", "im": "source-only/seed-1", "ensv": "source-only/seed-1"} {
		if got := runsBy[name]; got.Run != want || got.Candidates != 3 || got.Best != 90 {
			t.Errorf("runs by %s: %+v, want %s", name, got, want)
		}
	}
	if twice, there := runsBy[selection.GuardedRisk]; there {
		t.Errorf("runs by the rule for epochs: %+v", twice)
	}
	if got := runsBy["iwv-y"].Regret(); math.Abs(got-30) > 1e-9 {
		t.Errorf("regret %v", got)
	}
}

// A target without labels leaves nothing to measure, but the choices are the same.
func TestChoicesOnUnlabelledTargets(t *testing.T) {
	root := t.TempDir()
	experiment := sample.Digits()
	experiment.Tasks, experiment.Variants, experiment.Seeds = []string{"mnist-usps"}, []string{"full"}, []int64{1}
	runs := []store.Run{
		judgedAs(t, root, "source-only", [4]float64{}, [4]float64{0, 3, 1, 2}, [4]float64{9, 1, 2, 3}, [4]float64{0, 0.5, 0.5, 0.5}, [4]int{0, 1, 1, 0}),
		judgedAs(t, root, "dann", [4]float64{}, [4]float64{0, 1, 3, 2.5}, [4]float64{0, 3, 1, 2}, [4]float64{9, 4, 0.1, 0.05}, [4]int{0, 1, 1, 1}),
	}
	measured := slices.Clone(runs)
	for _, run := range runs {
		metrics, err := run.Dir.ReadMetrics()
		if err != nil {
			t.Fatal(err)
		}
		for i := range metrics {
			metrics[i].Accuracy = store.Optional[float64]{}
		}
		if err := run.Dir.WriteMetrics(metrics); err != nil {
			t.Fatal(err)
		}
	}
	for i := range runs {
		runs[i].Result.BestAccuracy, runs[i].Result.LastAccuracy = store.Optional[float64]{}, store.Optional[float64]{}
	}
	c, err := CompareCriteria(runs, experiment)
	if err != nil || len(c.Epochs)+len(c.Runs)+len(c.Ensembles)+len(c.Methods) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	chosen := map[string]string{}
	for _, choice := range c.Unlabelled {
		if choice.Variant != "full" || choice.Task != "mnist-usps" || choice.Run != choice.Method+"/seed-1" {
			t.Errorf("%+v", choice)
		}
		chosen[choice.Criterion] = choice.Method
	}
	want := map[string]string{"iwv-y": "source-only", selection.TargetRisk: "dann", "im": "source-only", "unexplained": "dann", "prior-divergence": "source-only", "ensv": "source-only"}
	for name, method := range want {
		if chosen[name] != method {
			t.Errorf("%s chose %q, want %s: %v", name, chosen[name], method, chosen)
		}
	}
	// Labels that came later leave what was run before out: it has no accuracy to compare.
	c, err = CompareCriteria([]store.Run{measured[0], runs[1]}, experiment)
	if err != nil || len(c.Unlabelled) > 0 || len(c.Runs) == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, choice := range c.Runs {
		if choice.Candidates != 1 || choice.Run != "source-only/seed-1" {
			t.Errorf("%+v", choice)
		}
	}
}

// The method has the best mean over its seeds, whoever has the best run.
func TestWithoutAccuracies(t *testing.T) {
	judged := func(method string, seed int64, im float64) judgedRun {
		var run judgedRun
		run.Variant, run.Task, run.Method, run.Seed = "full", "a-b", method, seed
		run.metrics = []store.Metrics{{Criteria: map[string]float64{"im": im}}}
		return run
	}
	got := withoutAccuracies([]judgedRun{judged("dann", 1, 9), judged("dann", 2, 0), judged("iwdan", 1, 5)}, nil, []float64{0.1, 0.2, 0.1})
	want := []Choice{
		{Variant: "full", Task: "a-b", Criterion: "im", Run: "dann/seed-1", Method: "iwdan"},
		{Variant: "full", Task: "a-b", Criterion: "ensv", Run: "dann/seed-2", Method: "dann"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Runs without anything to choose by, and tasks without source-only, are named in notes.
func TestCriteriaThatCannotBeCompared(t *testing.T) {
	root := t.TempDir()
	experiment := sample.Digits()
	experiment.Variants, experiment.Seeds = []string{"full"}, []int64{1}
	without := sample.Result("full", "usps-mnist", "dann", 1, 0.5, 0.5)
	without.ID = "full/usps-mnist/dann/seed-1"
	c, err := CompareCriteria([]store.Run{
		judgedAs(t, root, "dann", [4]float64{}, [4]float64{}, [4]float64{}, [4]float64{}, [4]int{}),
		{Dir: store.NewDir(root, "digits", without.ID), Result: without},
	}, experiment)
	if err != nil || len(c.Epochs) > 0 || len(c.Runs) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	notes := strings.Join(c.Notes, "\n")
	for _, want := range []string{"full, mnist-usps: no source-only run", "full, usps-mnist: 1 runs held no source rows out"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes\n%s\nlack %q", notes, want)
		}
	}
}
