package selection

import "slices"

// TargetRisk is the name of a rule for runs and methods: the [ClassWeightedRisk] plus the share
// of a candidate's predictions on the target that changed class shares leave unexplained. The
// first sees nothing of the target but its shares, the second nothing of what is right; a
// candidate that ignores the target, or that has collapsed, is bad by one of them. It does not
// compare epochs, of which early ones leave little unexplained because they are unsure.
const TargetRisk = "target-risk"

// targetRisk has the values of [TargetRisk].
var targetRisk = Criterion{
	Name: TargetRisk, Higher: ClassWeightedRisk.Higher, Cost: unexplainedShare.Cost,
	Fails: ClassWeightedRisk.Fails,
	needs: []need{sourceRows, classWeights, targetRows},
	value: func(in Input) (float64, error) {
		risk, err := ClassWeightedRisk.value(in)
		if err != nil {
			return 0, err
		}
		unexplained, err := unexplainedShare.value(in)
		return risk + unexplained, err
	},
}

// guardedRule is a rule for the epochs of a run: the epoch with the best value of a criterion,
// where that is clearly better than the last one's, and the last one where it is not.
type guardedRule struct {
	name    string
	of      Criterion
	window  int // number of evaluations, up to the one that is judged, that a value is the mean of
	clearly func(earlier, last Judged, q []float64) bool
}

// guardedRules has the default first.
var guardedRules = []guardedRule{guardedRisk, guardedAMI}

// Judged is an evaluation of a run: the value of a rule there, and the evidence.
type Judged struct {
	Value    float64
	Evidence Evidence
}

// RuleNames returns the names of all rules, the default first: GuardedRisk, GuardedAMI,
// TargetRisk and the criteria.
func RuleNames() []string {
	var names []string
	for _, r := range guardedRules {
		names = append(names, r.name)
	}
	return append(append(names, TargetRisk), Names()...)
}

// guarded returns the guarded rule of that name, if it is one.
func guarded(name string) (guardedRule, bool) {
	i := slices.IndexFunc(guardedRules, func(r guardedRule) bool { return r.name == name })
	if i < 0 {
		return guardedRule{}, false
	}
	return guardedRules[i], true
}

// ForEpochs tells whether the rule of that name compares epochs with the last one, which runs
// have none of.
func ForEpochs(name string) bool {
	_, is := guarded(name)
	return is
}

// RuleCriterion returns the criterion from whose values the rule of that name starts, and an
// error that lists the known criteria where there is no such rule.
func RuleCriterion(name string) (Criterion, error) {
	if r, is := guarded(name); is {
		return r.of, nil
	}
	if name == TargetRisk {
		return targetRisk, nil
	}
	return Find(name)
}

// RuleIsHigher tells whether a higher value of the rule of that name is better.
func RuleIsHigher(name string) bool {
	c, err := RuleCriterion(name)
	return err == nil && c.Higher
}

// RuleWindow returns the number of evaluations, the one that is judged and those before it,
// that a value of the rule of that name is the mean of.
func RuleWindow(name string) int {
	if r, is := guarded(name); is {
		return r.window
	}
	return 1
}

// TakesEarlier tells whether the rule of that name takes an earlier epoch of a run, which has
// the best value, in the place of the last one: a guarded rule only where the difference is
// clear, all others always. q are the target's class shares.
func TakesEarlier(name string, earlier, last Judged, q []float64) bool {
	r, is := guarded(name)
	return !is || r.clearly(earlier, last, q)
}
