package table

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

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
	columns, all := choiceColumns(), byCriterion(c.Choices)
	if len(all) > 0 {
		s.Sections = append(s.Sections, sheet.NewSection("Mean over tasks", meanColumns(), all))
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

// criterionChoices are what a criterion chooses on the tasks whose target has labels.
type criterionChoices struct {
	criterion       string
	chosen, regrets []float64
	correlations    []float64 // those that are known
}

// byCriterion returns them in the order in which the criteria come.
func byCriterion(choices []summary.Choice) (all []criterionChoices) {
	for _, c := range choices {
		if math.IsNaN(c.Chosen) {
			continue
		}
		at := slices.IndexFunc(all, func(of criterionChoices) bool { return of.criterion == c.Criterion })
		if at < 0 {
			at, all = len(all), append(all, criterionChoices{criterion: c.Criterion})
		}
		of := &all[at]
		of.chosen, of.regrets = append(of.chosen, c.Chosen), append(of.regrets, c.Regret())
		if !math.IsNaN(c.Correlation) {
			of.correlations = append(of.correlations, c.Correlation)
		}
	}
	return all
}

func meanColumns() []sheet.Column[criterionChoices] {
	type row = criterionChoices
	return []sheet.Column[row]{
		word("criterion", "criterion", func(r row) string { return r.criterion }),
		count("tasks", "tasks", func(r row) int { return len(r.chosen) }),
		percent("chosen", "chosen", pointsFormat, func(r row) float64 { return stat.Mean(r.chosen, nil) }),
		percent("regret", "regret", pointsFormat, func(r row) float64 { return stat.Mean(r.regrets, nil) }),
		percent("worst_regret", "worst", pointsFormat, func(r row) float64 { return slices.Max(r.regrets) }),
		number("correlation", "ρ", correlationFormat, func(r row) float64 { return stat.Mean(r.correlations, nil) }),
	}
}
