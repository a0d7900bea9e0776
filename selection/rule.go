package selection

// TargetRisk is the name of a rule for runs and methods: the [ClassWeightedRisk] plus the share
// of a candidate's predictions on the target that changed class shares leave unexplained. The
// first sees nothing of the target but its shares, the second nothing of what is right; a
// candidate that ignores the target, or that has collapsed, is bad by one of them. It does not
// compare epochs, of which early ones leave little unexplained because they are unsure.
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
