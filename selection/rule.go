package selection

// TargetRisk is the name of a rule by which candidates are chosen: the [ClassWeightedRisk], to
// which is added, where a test says that changed class shares alone do not explain the target,
// what they leave unexplained.
const TargetRisk = "target-risk"

// RuleNames returns the names of all rules: TargetRisk and the criteria.
func RuleNames() []string { return append([]string{TargetRisk}, Names()...) }

// RuleIsHigher tells whether a higher value of the rule of that name is better.
func RuleIsHigher(name string) bool {
	c, err := Find(name)
	return err == nil && c.Higher
}
