package store

import (
	"math"

	"iwda/selection"
)

// Judge returns the value of a rule, one of [selection.RuleNames], at the last of the
// evaluations until then, NaN where that did not measure it. q are the target's class shares,
// which one model that all candidates share estimates; they and that evaluation's evidence may
// be missing.
func Judge(rule string, q []float64, until []Metrics, e *Evidence) float64 {
	m := until[len(until)-1]
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
	if window := selection.RuleWindow(rule); window > 1 {
		if measured, err := selection.RuleCriterion(rule); err == nil {
			return meanCriterion(measured.Name, until, window)
		}
	}
	return m.criterion(rule)
}

// meanCriterion is the mean over the last so many evaluations, or as many as there are, but for
// that of the network before it was trained.
func meanCriterion(name string, until []Metrics, window int) float64 {
	var sum, n float64
	for _, m := range until[max(0, len(until)-window):] {
		if m.Epoch > 0 {
			sum += m.criterion(name)
			n++
		}
	}
	return sum / n
}

func (m Metrics) criterion(name string) float64 {
	if value, ok := m.Criteria[name]; ok {
		return value
	}
	return math.NaN()
}
