package table

import (
	"math"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
)

// Criteria puts the criteria that choose without labels of the target side by side: what iwrun
// adapt would use by each of them, and how good that is. Unlike other tables it reads the runs'
// folders.
func Criteria(runs []store.Run, experiment config.Config) (sheet.Sheet, error) {
	c, err := summary.CompareCriteria(runs, experiment)
	if err != nil {
		return sheet.Sheet{}, err
	}
	return criteria(c), nil
}

func criteria(c summary.Criteria) sheet.Sheet {
	s := sheet.Sheet{Experiment: c.Experiment, Title: c.Experiment + ": choosing without labels of the target", Notes: c.Notes}
	columns, means := choiceColumns(), meansOverTasks(c.Choices)
	if len(means) > 0 {
		s.Sections = append(s.Sections, sheet.NewSection("Mean over tasks", meanColumns(), means))
	} else {
		columns = columns[:chosenColumns]
	}
	if len(c.Choices) > 0 {
		s.Sections = append(s.Sections, sheet.NewSection("What is used on each task", columns, c.Choices))
		s.Records = sheet.NewRecords(columns, c.Choices)
	}
	s.Legend = "What iwrun adapt would choose by each criterion, with the experiment's selection.tolerance: a run, or, with selection.choose: method, all seeds of its method together. " +
		"Accuracies on the target's test set in percent, measured with its labels, which no criterion reads; missing if there are none. chosen: accuracy of the last epoch of what is chosen; best: that of the best run; regret: best minus chosen, in points, mean and largest. " +
		"ρ: rank correlation of criterion and accuracy over the runs. " +
		"target-risk, iwv-y and prior-divergence take the target's class shares from the first source-only run of a task, or the first run of all."
	return s
}

// chosenColumns is the number of the first columns, those that need no labels of the target.
const chosenColumns = 5

func choiceColumns() []sheet.Column[summary.Choice] {
	type row = summary.Choice
	return []sheet.Column[row]{
		word("variant", "variant", func(r row) string { return r.Variant }),
		word("task", "task", func(r row) string { return r.Task }),
		word("criterion", "criterion", func(r row) string { return r.Criterion }),
		word("run", "run", func(r row) string { return r.Run }),
		word("method", "", func(r row) string { return r.Method }),
		percent("chosen", "chosen", pointsFormat, func(r row) float64 { return r.Chosen }),
		percent("best", "best", pointsFormat, func(r row) float64 { return r.Best }),
		percent("regret", "regret", pointsFormat, row.Regret),
		number("correlation", "ρ", correlationFormat, func(r row) float64 { return r.Correlation }),
	}
}

// meanChoice averages what a criterion chooses over the tasks whose target has labels.
type meanChoice struct {
	criterion                   string
	chosen, regret, correlation mean
}

// mean is the mean of values that are known, and their largest; NaN of none.
type mean struct {
	sum, worst float64
	n          int
}

func (m *mean) add(value float64) {
	if math.IsNaN(value) {
		return
	}
	m.sum, m.worst, m.n = m.sum+value, max(m.worst, value), m.n+1
}

func (m mean) value() float64 { return m.sum / float64(m.n) }

func (m mean) largest() float64 {
	if m.n == 0 {
		return math.NaN()
	}
	return m.worst
}

// meansOverTasks returns them in the order in which the criteria come.
func meansOverTasks(choices []summary.Choice) (means []meanChoice) {
	for _, c := range choices {
		if math.IsNaN(c.Chosen) {
			continue
		}
		at := slices.IndexFunc(means, func(m meanChoice) bool { return m.criterion == c.Criterion })
		if at < 0 {
			at, means = len(means), append(means, meanChoice{criterion: c.Criterion})
		}
		m := &means[at]
		m.chosen.add(c.Chosen)
		m.regret.add(c.Regret())
		m.correlation.add(c.Correlation)
	}
	return means
}

func meanColumns() []sheet.Column[meanChoice] {
	type row = meanChoice
	return []sheet.Column[row]{
		word("criterion", "criterion", func(r row) string { return r.criterion }),
		count("tasks", "tasks", func(r row) int { return r.chosen.n }),
		percent("chosen", "chosen", pointsFormat, func(r row) float64 { return r.chosen.value() }),
		percent("regret", "regret", pointsFormat, func(r row) float64 { return r.regret.value() }),
		percent("worst_regret", "worst", pointsFormat, func(r row) float64 { return r.regret.largest() }),
		number("correlation", "ρ", correlationFormat, func(r row) float64 { return r.correlation.value() }),
	}
}
