package report

import (
	"fmt"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

// Confusion is the predictions of a method on a task's test set.
type Confusion struct {
	Variant, Task, Method string
	Paper                 bool // printed there, not measured
	Classes               []string
	// Percent holds the share of the predictions (column) for each true class (row):
	// D_T(Ŷ = y' | Y = y). A class without samples has a row of zeros.
	Percent  [][]float64
	Accuracy float64 // in percent
	Seeds    int     // whose counts were added up
}

// Confusions returns, for each variant without class fractions, task and method, the
// predictions at the end of the runs, the counts of all seeds added up, and after
// each method the paper's, where it prints them.
func Confusions(results []store.Result, experiment config.Config) []Confusion {
	return confusions(selectResults(results, experiment))
}

func confusions(s selection) []Confusion {
	var all []Confusion
	for _, variant := range namedVariants(s.experiment) {
		for _, task := range s.experiment.Tasks {
			for _, method := range s.methods {
				runs := s.results[place{variant, task, method}]
				if len(runs) == 0 {
					continue
				}
				measured := sumConfusion(runs)
				measured.Variant, measured.Task, measured.Method = variant, task, method
				all = append(all, measured)
				printed, ok := paper.Confusion(s.experiment.Dataset.Name, variant, task, method)
				if ok && len(printed.Percent) == len(measured.Classes) {
					all = append(all, Confusion{
						Variant: variant, Task: task, Method: method, Paper: true,
						Classes: measured.Classes, Percent: printed.Percent, Accuracy: printed.Accuracy,
					})
				}
			}
		}
	}
	return all
}

// sumConfusion adds the counts of runs on the same test set, and turns them into
// percentages.
func sumConfusion(runs []store.Result) Confusion {
	classes := runs[0].Classes
	c := Confusion{Classes: classes, Seeds: len(runs)}
	right, all := 0, 0
	for y := range classes {
		row, total := make([]float64, len(classes)), 0
		for _, run := range runs {
			for predicted, n := range run.Confusion[y] {
				row[predicted] += float64(n)
				total += n
			}
			right += run.Confusion[y][y]
		}
		for predicted := range row {
			row[predicted] *= 100 / float64(max(total, 1))
		}
		c.Percent = append(c.Percent, row)
		all += total
	}
	c.Accuracy = 100 * float64(right) / float64(max(all, 1))
	return c
}

// Name is the method, and that the numbers are the paper's if they are.
func (c Confusion) Name() string {
	if c.Paper {
		return c.Method + " (paper)"
	}
	return c.Method
}

// ConfusionSheet shows Confusions, a section each.
func ConfusionSheet(results []store.Result, experiment config.Config) Sheet {
	s := selectResults(results, experiment)
	sheet := Sheet{
		Experiment: experiment.Experiment, Title: s.title("predictions by class"), Unit: "percent", Notes: s.notes,
		Legend: "Predictions (columns) for each true class (rows) of the target's test set in percent, at the end of the runs, all seeds together. " +
			"The paper does not say at which epoch it took its own.",
		Records: Records{Fields: []string{"variant", "task", "method", "of", "seeds", "class", "predicted", "percent"}},
	}
	for _, c := range confusions(s) {
		from, of := fmt.Sprintf("%d/%d seeds", c.Seeds, len(experiment.Seeds)), "run"
		if c.Paper {
			from, of = "one run", "paper"
		}
		section := Section{
			Title:  fmt.Sprintf("%s, %s, %s: accuracy %.2f, %s", c.Variant, c.Task, c.Name(), c.Accuracy, from),
			Header: append([]string{"class"}, c.Classes...), Names: 1,
		}
		for y, row := range c.Percent {
			line := []Cell{word(c.Classes[y])}
			for predicted, percent := range row {
				line = append(line, figure("%.2f", percent))
				sheet.Records.Rows = append(sheet.Records.Rows,
					[]any{c.Variant, c.Task, c.Method, of, c.Seeds, c.Classes[y], c.Classes[predicted], rounded(percent)})
			}
			section.Rows = append(section.Rows, line)
		}
		sheet.Sections = append(sheet.Sections, section)
	}
	return sheet
}
