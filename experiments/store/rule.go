package store

import (
	"math"

	"iwda/selection"
)

// SharedShares are what one model, which all candidates share, says of the target's classes.
type SharedShares struct {
	Shares []float64 // q
	// Explained tells whether label shift explains what that model predicts.
	Explained bool
}

// Judge returns the value of a rule at an evaluation, NaN where that did not measure it: the
// rule is one of [selection.RuleNames]. There may be no evidence.
func (s SharedShares) Judge(rule string, m Metrics, e *Evidence) float64 {
	ofEvidence := func(value func(q []float64) float64) float64 {
		if e == nil || s.Shares == nil {
			return math.NaN()
		}
		return value(s.Shares)
	}
	switch rule {
	case selection.ClassWeightedRisk.Name, selection.GuardedRisk:
		return ofEvidence(func(q []float64) float64 { return e.Risk(q) })
	case selection.TargetRisk:
		risk := ofEvidence(func(q []float64) float64 { return e.Risk(q) })
		if s.Explained {
			return risk
		}
		return risk + m.criterion("unexplained")
	case "prior-divergence":
		return ofEvidence(func(q []float64) float64 { return e.Divergence(q) })
	case "source-accuracy":
		return m.ValidationAccuracy.OrNaN()
	}
	return m.criterion(rule)
}

func (m Metrics) criterion(name string) float64 {
	if value, ok := m.Criteria[name]; ok {
		return value
	}
	return math.NaN()
}
