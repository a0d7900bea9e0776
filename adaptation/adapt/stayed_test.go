package adapt

import (
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/must"
)

// A method is named whose weights stayed in most updates of its runs, warm-up aside; one whose
// weights stayed now and then, and one that has none, are not.
func TestUnestimatedWeights(t *testing.T) {
	results := t.TempDir()
	const note = "the smallest singular value of C, 1e-20, is below the limit 0.0001: the former weights stay"
	run := func(method string, seed int64, weights ...float64) plan.Run {
		r := plan.Run{ID: store.ID{Variant: "full", Task: "a-b", Method: method, Seed: seed}}
		r.Config.Experiment = "mine"
		r.Config.Weights.Warmup = 1
		var updates []store.WeightUpdate
		for i, w := range weights {
			if method == "iwdan" { // of two sources in turn
				updates = append(updates, store.WeightUpdate{Epoch: i + 1, Step: i + 1, Source: "other", Weights: []float64{3, float64(i / 2)}})
			}
			u := store.WeightUpdate{Epoch: i + 1, Step: i + 1, Weights: []float64{w, 2 - w}}
			if i > 0 && w == weights[i-1] {
				u.Note = note
			}
			updates = append(updates, u)
		}
		dir := r.Dir(results)
		must.Do(t, dir.Begin())
		must.Do(t, dir.WriteWeights(updates))
		return r
	}
	for _, name := range []string{"dann", "iwdan", "iwcdan"} {
		if _, known := config.ParseMethod(name); !known {
			t.Fatal(name)
		}
	}
	runs := []plan.Run{
		run("dann", 1, 1, 1, 1, 1),
		run("iwdan", 1, 1, 1, 1, 0.5), run("iwdan", 2, 1, 1, 1, 1),
		run("iwcdan", 1, 1, 0.5, 0.5, 0.25), run("iwcdan", 2, 1, 0.5, 0.4, 0.4),
	}
	sentences, err := unestimated(results, runs)
	if err != nil || len(sentences) != 1 || !strings.HasPrefix(sentences[0], "In 9 of 12 updates the class weights of full/a-b/iwdan did not change") || !strings.Contains(sentences[0], note) {
		t.Errorf("%q, %v", sentences, err)
	}
}
