package report

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"iwda/adaptation/judge"
	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
	"iwda/inference/selection"
	"iwda/internal/convert"
	"iwda/internal/printable"
)

// Criteria puts the criteria that choose without labels of the target side by side: what iwrun
// adapt would use by each of them, and how good that is. Unlike other tables it reads the runs'
// folders.
func Criteria(runs []store.Run, experiment config.Config) (sheet.Sheet, error) {
	c, err := compareCriteria(runs, experiment)
	if err != nil {
		return sheet.Sheet{}, err
	}
	return c.sheet(experiment.Experiment), nil
}

func (c comparison) sheet(experiment string) sheet.Sheet {
	s := sheet.Sheet{Experiment: experiment, Title: experiment + ": choosing without labels of the target", Notes: c.notes}
	columns, all := choiceColumns(), byCriterion(c.choices)
	if len(all) > 0 {
		s.Sections = append(s.Sections, sheet.NewSection("Mean over tasks", meanColumns(), all))
	} else {
		columns = columns[:chosenColumns]
	}
	if len(c.choices) > 0 {
		s.Sections = append(s.Sections, sheet.NewSection("What is used on each task", columns, c.choices))
		s.Records = sheet.NewRecords(columns, c.choices)
	}
	s.Legend = "What iwrun adapt would choose by each criterion, with the experiment's selection.tolerance: a run, or, with selection.choose: method, all seeds of its method together. " +
		"Accuracies on the target's test set in percent, measured with its labels, which no criterion reads; missing if there are none. chosen: accuracy of the last epoch of what is chosen; best: that of the best run; regret: best minus chosen, in points, mean and largest. " +
		"target-risk, iwv-y and prior-divergence take the target's class shares from the first source-only run of a task, or the first run of all."
	return s
}

// chosenColumns is the number of the first columns, those that need no labels of the target.
const chosenColumns = 5

func choiceColumns() []sheet.Column[choice] {
	type row = choice
	return []sheet.Column[row]{
		word("variant", "variant", func(r row) string { return r.variant }),
		word("task", "task", func(r row) string { return r.task }),
		word("criterion", "criterion", func(r row) string { return r.criterion }),
		word("run", "run", func(r row) string { return r.run }),
		word("method", "", func(r row) string { return r.method }),
		percent("chosen", "chosen", pointsFormat, func(r row) float64 { return r.chosen }),
		percent("best", "best", pointsFormat, func(r row) float64 { return r.best }),
		percent("regret", "regret", pointsFormat, row.regret),
	}
}

// criterionChoices are what a criterion chooses on the tasks whose target has labels.
type criterionChoices struct {
	criterion       string
	chosen, regrets []float64
}

// byCriterion returns them in the order in which the criteria come.
func byCriterion(choices []choice) (all []criterionChoices) {
	for _, c := range choices {
		if math.IsNaN(c.chosen) {
			continue
		}
		at := slices.IndexFunc(all, func(of criterionChoices) bool { return of.criterion == c.criterion })
		if at < 0 {
			at, all = len(all), append(all, criterionChoices{criterion: c.criterion})
		}
		of := &all[at]
		of.chosen, of.regrets = append(of.chosen, c.chosen), append(of.regrets, c.regret())
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
	}
}

// comparison is of the criteria that choose without labels of the target, by the accuracies of
// what they choose. Accuracies are in percent, NaN where the target has no labels.
type comparison struct {
	choices []choice
	notes   []string // what could not be compared, sentences
}

// choice is what iwrun adapt would use of the runs of a task by a criterion, with the
// experiment's tolerance: a run, or all seeds of its method.
type choice struct {
	variant, task, criterion string
	run, method              string // run is method and seed
	// chosen is the accuracy of the run's last epoch, and best that of the best run.
	chosen, best float64
}

// regret is the accuracy lost to the best run.
func (c choice) regret() float64 { return c.best - c.chosen }

// compareCriteria compares what all criteria choose among the finished runs of each task of an
// experiment. Runs that held no source rows out are left out.
func compareCriteria(runs []store.Run, experiment config.Config) (c comparison, err error) {
	s := Select(runs, experiment)
	c.notes = slices.Clone(s.Notes)
	for _, variant := range experiment.Variants {
		for _, task := range experiment.Tasks {
			var ofTask []store.Run
			var candidates []judge.Candidate
			without := 0
			for _, run := range runsOf(s, variant, task) {
				candidate, err := judge.Read(run)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					without++
				case err != nil:
					return c, err
				default:
					ofTask, candidates = append(ofTask, run), append(candidates, candidate)
				}
			}
			if without > 0 {
				c.notes = append(c.notes, fmt.Sprintf("%s, %s: %s without held-out source rows (train.validation).", variant, task, printable.Count(without, "run")))
			}
			if len(candidates) > 0 {
				c.add(ofTask, candidates, experiment.Selection.Tolerance)
			}
		}
	}
	return c, nil
}

// runsOf returns a task's runs in the order of the experiment, in which methods
// are preferred. Where the accuracy of one was measured, it is those whose accuracy was; a
// target may have been given labels since.
func runsOf(s Selection, variant, task string) (runs []store.Run) {
	for _, of := range []func(variant, task, method string) []store.Run{s.Runs, s.WithoutLabels} {
		for _, method := range s.Experiment.Methods {
			runs = append(runs, of(variant, task, method)...)
		}
		if len(runs) > 0 {
			break
		}
	}
	return runs
}

// add has all criteria choose among the runs of a task.
func (c *comparison) add(runs []store.Run, candidates []judge.Candidate, tolerance float64) {
	variant, task := runs[0].Result.Variant, runs[0].Result.Task
	note := func(err error) {
		c.notes = append(c.notes, fmt.Sprintf("%s, %s: %v.", variant, task, err))
	}
	compared, leftOut, err := judge.New(candidates)
	if err != nil {
		note(err)
		return
	}
	for _, err := range leftOut {
		note(err)
	}
	runs = slices.DeleteFunc(runs, func(run store.Run) bool { return !compared.Judges(run.Result.ID) })
	accuracies := convert.Each(runs, func(run store.Run) float64 { return 100 * run.Result.LastAccuracy.OrNaN() })
	for _, criterion := range selection.All() {
		chosen, err := compared.Choose(criterion.Name, tolerance)
		if err != nil {
			note(err)
			continue
		}
		used := runs[chosen.Used].Result
		c.choices = append(c.choices, choice{
			variant: variant, task: task, criterion: criterion.Name, run: fmt.Sprintf("%s/seed-%d", used.Method, used.Seed), method: used.Method,
			chosen: accuracies[chosen.Used], best: floats.Max(accuracies),
		})
	}
}
