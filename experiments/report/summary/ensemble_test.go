package summary

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"iwda/experiments/store"
)

// Two networks that are wrong about different rows are right together where the surer one is,
// and each is corrected for the shares that it finds: the held-out rows have as many of
// both classes, the target four times as many of the second.
func TestEnsemble(t *testing.T) {
	outputs := func(seed int64, wrong int) judgedRun {
		o := store.Outputs{Classes: 2}
		for i := range 40 { // each tenth row of a class is taken for the other one
			class := i % 2
			o.HeldOutLabels = append(o.HeldOutLabels, class)
			toward := float32(2*class - 1)
			if i%20 < 2 {
				toward = -toward
			}
			o.HeldOut = append(o.HeldOut, -toward, toward)
		}
		for i := range 50 {
			class := min(i%5, 1)
			o.TargetLabels = append(o.TargetLabels, class)
			toward := float32(2*class-1) * 1.5
			if i%5 == wrong {
				toward = -0.6 * toward
			}
			o.Target = append(o.Target, -toward, toward)
		}
		corrected, err := correctedOutputs(o)
		if err != nil || corrected == nil {
			t.Fatal(corrected, err)
		}
		run := judgedRun{labels: o.TargetLabels, corrected: corrected}
		run.Variant, run.Task, run.Method, run.Seed = "full", "a-b", "iwdan", seed
		return run
	}
	got := ensembles([]judgedRun{outputs(1, 2), outputs(2, 3)})
	if len(got) != 1 || got[0].Members != 2 || got[0].Accuracy <= got[0].Mean || math.Abs(got[0].Accuracy-100) > 1e-9 {
		t.Errorf("%+v", got)
	}
	if single := ensembles([]judgedRun{outputs(1, 2)}); len(single) > 0 {
		t.Errorf("of one run: %+v", single)
	}
	unlabelled := []judgedRun{outputs(1, 2), outputs(2, 3)}
	for i := range unlabelled[0].labels {
		unlabelled[0].labels[i] = -1
	}
	if got := ensembles(unlabelled); len(got) > 0 {
		t.Errorf("without labels: %+v", got)
	}
}

// The method is the one with the best mean over its seeds, whoever has the best run, and no
// choice is made where a run was not measured or stands alone.
func TestChooseMethod(t *testing.T) {
	judged := func(method string, seed int64, im float64, right bool) judgedRun {
		run := judgedRun{labels: []int{0, 1}, corrected: mat.NewDense(2, 2, []float64{0.9, 0.1, 0.2, 0.8})}
		if !right {
			run.corrected.Set(0, 0, 0)
		}
		run.Variant, run.Task, run.Method, run.Seed = "full", "a-b", method, seed
		run.metrics = []store.Metrics{{Criteria: map[string]float64{"im": im, "entropy": im}}}
		return run
	}
	runs := []judgedRun{
		judged("dann", 1, 9, false), judged("dann", 2, 0, false),
		judged("iwdan", 1, 5, true), judged("iwdan", 2, 6, true),
	}
	choose := func(r rule, runs []judgedRun) (MethodChoice, bool) {
		values, ok := r.valuesOf(runs, nil)
		if !ok {
			return MethodChoice{}, false
		}
		return r.chooseMethod(runs, values, ensembles(runs))
	}
	got, ok := choose("im", runs)
	want := MethodChoice{Variant: "full", Task: "a-b", Criterion: "im", Method: "iwdan", Chosen: 100, Best: 100, Run: 50}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(ok, diff)
	}
	got, ok = choose("entropy", runs) // of which less is better
	want = MethodChoice{Variant: "full", Task: "a-b", Criterion: "entropy", Method: "dann", Chosen: 50, Best: 100, Run: 50}
	if diff := cmp.Diff(want, got); !ok || diff != "" || got.Regret() != 50 {
		t.Error(ok, diff)
	}
	if got, ok := choose("snd", runs); ok {
		t.Errorf("by what was not measured: %+v", got)
	}
	if got, ok := choose("im", runs[:3]); ok {
		t.Errorf("with a method of one run: %+v", got)
	}
}
