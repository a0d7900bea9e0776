package selection

// TargetRisk is the name of a rule by which candidates are chosen: the [ClassWeightedRisk], to
// which is added, where a test says that changed class shares alone do not explain the target,
// what they leave unexplained.
const TargetRisk = "target-risk"

// RuleNames returns the names of all rules, the default first: GuardedRisk, TargetRisk and the
// criteria.
func RuleNames() []string { return append([]string{GuardedRisk, TargetRisk}, Names()...) }

// RuleCriterion returns the criterion from whose values the rule of that name starts, and an
// error that lists the known criteria where there is no such rule.
func RuleCriterion(name string) (Criterion, error) {
	if name == GuardedRisk || name == TargetRisk {
		return ClassWeightedRisk, nil
	}
	return Find(name)
}

// RuleIsHigher tells whether a higher value of the rule of that name is better.
func RuleIsHigher(name string) bool {
	c, err := RuleCriterion(name)
	return err == nil && c.Higher
}

// TakesEarlier tells whether the rule of that name takes an earlier epoch of a run, which has
// the best value, in the place of the last one: GuardedRisk only where the difference is clear,
// all others always. q are the target's class shares.
func TakesEarlier(name string, earlier, last Evidence, q []float64) bool {
	return name != GuardedRisk || earlier.clearlyBelow(last, q)
}
