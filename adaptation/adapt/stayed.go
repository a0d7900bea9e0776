package adapt

import (
	"fmt"
	"path"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/plan"
)

// unestimated returns a sentence for each method whose class weights stayed as they were, as
// where too few rows of a class were seen to estimate from, in more than half of the updates of
// its finished runs after their warm-up: it aligns the domains in other shares than it promises.
func unestimated(results string, runs []plan.Run) (sentences []string, err error) {
	type updates struct {
		kept, among int
		why         string // of the last one that left the weights as they were
	}
	var methods []string // variant, task and method
	of := make(map[string]*updates)
	for _, run := range runs {
		if method, _ := config.ParseMethod(run.ID.Method); method.Weights != config.EstimatedWeights {
			continue
		}
		all, err := run.Dir(results).ReadWeights()
		if err != nil {
			return nil, err
		}
		name := path.Dir(run.ID.String())
		if of[name] == nil {
			methods, of[name] = append(methods, name), new(updates)
		}
		u := of[name]
		number, last := map[string]int{}, map[string][]float64{} // by source
		for _, update := range all {
			if number[update.Source] >= max(1, run.Config.Weights.Warmup) {
				u.among++
				if slices.Equal(update.Weights, last[update.Source]) {
					u.kept, u.why = u.kept+1, update.Note
				}
			}
			number[update.Source]++
			last[update.Source] = update.Weights
		}
	}
	for _, name := range methods {
		if u := of[name]; 2*u.kept > u.among {
			sentences = append(sentences, fmt.Sprintf("In %d of %d updates the class weights of %s did not change (%s): it aligned the domains as if their class shares were the same. More rows, or fewer classes, would help. Predictions are still corrected for the estimated shares.",
				u.kept, u.among, name, u.why))
		}
	}
	return sentences, nil
}
