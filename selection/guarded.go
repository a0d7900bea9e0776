package selection

import "math"

// GuardedRisk is the name of a rule for the epochs of a run: the one of the lowest
// [ClassWeightedRisk], if its risk is clearly below that of the last epoch, and the last one if
// it is not. Held-out rows of rare classes are few, so that risks differ by chance: a lower
// one alone is no reason to leave a network that learned for longer.
const GuardedRisk = "guarded-risk"

// clearErrors is by how many standard errors of the difference of two risks, as if they were
// independent, one of them must be lower for GuardedRisk. It was chosen on one half of some
// tasks and tested on the other; see docs/selection.md.
const clearErrors = 1.5

// clearlyBelow tells whether the candidate's risk under class shares q of the target is below
// the other's beyond what chance explains.
func (e Evidence) clearlyBelow(other Evidence, q []float64) bool {
	return other.Risk(q)-e.Risk(q) > clearErrors*math.Hypot(e.RiskError(q), other.RiskError(q))
}
