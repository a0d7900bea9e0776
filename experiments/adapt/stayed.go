package adapt

import (
	"fmt"
	"path"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// stayed are how many of the updates of a method's class weights left them as they were, as
// where too few rows of a class were seen to estimate from.
type stayed struct {
	method      string // variant, task and method
	kept, among int
	why         string // of the last one
}

// unestimated returns a sentence for each method whose class weights stayed in more than half
// of the updates of its finished runs: it aligns the domains in other shares than it promises.
func unestimated(results string, runs []plan.Run) (sentences []string, err error) {
	var all []stayed
	for _, run := range runs {
		if method, _ := config.ParseMethod(run.ID.Method); method.Weights != config.EstimatedWeights {
			continue
		}
		updates, err := run.Dir(results).ReadWeights()
		if err != nil {
			return nil, err
		}
		name := path.Dir(run.ID.String())
		at := slices.IndexFunc(all, func(s stayed) bool { return s.method == name })
		if at < 0 {
			at, all = len(all), append(all, stayed{method: name})
		}
		all[at].add(updates, run.Config.Weights.Warmup)
	}
	for _, s := range all {
		if 2*s.kept > s.among {
			sentences = append(sentences, fmt.Sprintf("In %d of %d updates the class weights of %s stayed as they were (%s): there it aligned the domains as if their class shares were alike. More rows, or fewer classes, would help; predictions are corrected for the estimated shares all the same.",
				s.kept, s.among, s.method, s.why))
		}
	}
	return sentences, nil
}

// add counts the updates of a run after its warm-up.
func (s *stayed) add(updates []store.WeightUpdate, warmup int) {
	for i := max(1, warmup); i < len(updates); i++ {
		s.among++
		if slices.Equal(updates[i].Weights, updates[i-1].Weights) {
			s.kept++
			s.why = updates[i].Note
		}
	}
}
