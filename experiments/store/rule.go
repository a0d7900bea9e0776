package store

import (
	"math"

	"iwda/selection"
)

// Judge returns the value of a rule, one of [selection.RuleNames], at an evaluation, NaN where
// that did not measure it. q are the target's class shares, which one model that all candidates
// share estimates; they and the evidence may be missing.
func Judge(rule string, q []float64, m Metrics, e *Evidence) float64 {
	ofEvidence := func(value func(q []float64) float64) float64 {
		if e == nil || q == nil {
			return math.NaN()
		}
		return value(q)
	}
	switch rule {
	case selection.ClassWeightedRisk.Name, selection.GuardedRisk:
		return ofEvidence(func(q []float64) float64 { return e.Risk(q) })
	case selection.TargetRisk:
		return ofEvidence(func(q []float64) float64 { return e.Risk(q) }) + m.criterion("unexplained")
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
