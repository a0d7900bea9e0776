package train

import (
	"sync"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// Runs of one process, made at the same time, end with the bits that each of them ends with
// alone.
func TestRunsAtOnce(t *testing.T) {
	office := drawOffice(t, 2)
	runs := map[string]config.Resolved{
		"iwdan, recorded":            resolve(t, "subsampled", "iwdan", 1),
		"dann":                       resolve(t, "full", "dann", 1),
		"dann, another seed":         resolve(t, "full", "dann", 2),
		"iwcdan":                     resolve(t, "subsampled", "iwcdan", 1),
		"iwjan":                      resolve(t, "subsampled", "iwjan", 1),
		"iwcdan, images, projection": resolveOffice(t, office, "full", "iwcdan", "train.steps=4", "train.eval_every=2", "discriminator.random_projection=64"),
		"iwdan, restarts":            diverging(t, 20),
	}
	alone, beside := map[string]store.Dir{}, map[string]store.Dir{}
	for name, run := range runs {
		alone[name], _ = train(t, run)
		beside[name] = begin(t, run)
	}
	var training sync.WaitGroup
	for name, run := range runs {
		training.Go(func() {
			if _, err := Run(t.Context(), run, beside[name], Options{Threads: 1, recorded: name == "iwdan, recorded"}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	training.Wait()
	if t.Failed() {
		return
	}
	for name := range runs {
		if diff := outcomeOf(t, alone[name]).diff(outcomeOf(t, beside[name])); diff != "" {
			t.Errorf("%s: beside others the run ends otherwise:\n%s", name, diff)
		}
	}
}
