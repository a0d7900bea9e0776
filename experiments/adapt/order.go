package adapt

import (
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/plan"
)

// LongestFirst returns the runs in the order in which several of them at a time end first:
// those that take longest begin. A discriminator takes most of a step, one of the classes'
// predictions too takes longer still.
func LongestFirst(runs []plan.Run) []plan.Run {
	work := func(run plan.Run) int {
		method, _ := config.ParseMethod(run.ID.Method) // that of a planned run is known
		switch method.Alignment {
		case config.NoAlignment:
			return 0
		case config.DANN, config.DAN, config.DANLinear:
			return 1
		}
		return 2
	}
	ordered := slices.Clone(runs)
	slices.SortStableFunc(ordered, func(a, b plan.Run) int { return work(b) - work(a) })
	return ordered
}
