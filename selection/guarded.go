package selection

import "math"

// GuardedRisk is the name of a rule for the epochs of a run: the one of the lowest
// [ClassWeightedRisk], if its risk is clearly below that of the last epoch, and the last one if
// it is not. Held-out rows of rare classes are few, so that risks differ by chance: a lower
// one alone is no reason to leave a network that learned for longer.
const GuardedRisk = "guarded-risk"

var guardedRisk = guardedRule{
	name: GuardedRisk, of: ClassWeightedRisk, window: 1,
	clearly: func(earlier, last Judged, q []float64) bool { return earlier.Evidence.clearlyBelow(last.Evidence, q) },
}

// clearErrors is by how many standard errors of the difference of two risks, as if they were
// independent, one of them must be lower for GuardedRisk. It was chosen on one half of some
// tasks and tested on the other; see docs/selection.md.
const clearErrors = 1.5

// clearlyBelow tells whether the candidate's risk under class shares q of the target is below
// the other's beyond what chance explains.
func (e Evidence) clearlyBelow(other Evidence, q []float64) bool {
	return other.Risk(q)-e.Risk(q) > clearErrors*math.Hypot(e.RiskError(q), other.RiskError(q))
}

// GuardedAMI is the name of a rule for the epochs of a run: the one of the highest class AMI
// (criterion class-ami), a mean over three evaluations, if that is above the last one's by more
// than 0.04, and the last one if it is not. Clusters of a single evaluation agree with its
// predictions by chance.
const GuardedAMI = "guarded-ami"

var guardedAMI = guardedRule{
	name: GuardedAMI, of: clusterAgreement, window: 3,
	clearly: func(earlier, last Judged, _ []float64) bool { return earlier.Value-last.Value > clearAMI },
}

// clearAMI was chosen on runs of tasks other than those on which it was judged; see
// docs/selection.md.
const clearAMI = 0.04
