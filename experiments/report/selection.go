// Package report shows what finished runs have: which results count, tables of them, accuracies beside the
// paper's, gains, ablations, class weights, predictions by class, the quantities of the paper's theorems, and figures
// of accuracy and weight distance by epoch and of gain and performance against divergence.
//
// A kind of table is a function from a [Selection] to a [sheet.Sheet], and a line in kinds. A kind of figure is a function
// from it to a [Figure], without panels if there is nothing to draw, and a line in [Figures].
//
// Accuracies are in percent here, as the paper prints them; results hold fractions of 1.
// The best epoch is chosen on target labels, which a user does not have, so that the
// last one always stands beside it.
package report

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

// Selection is an experiment's planned runs that are finished: those which count. What a run
// without target labels has is no accuracy, so that [Selection.Runs] leaves it out.
type Selection struct {
	Experiment config.Config
	Methods    []string // those of the experiment, in the paper's order
	Notes      []string // how many runs are missing, what was left out, sentences

	runs        map[store.ID]store.Run
	unpublished []string // what of the data of some run is not as it was published
}

// Select chooses those of an experiment's runs that say something. Notes say how many are missing, and which
// it leaves out.
func Select(runs []store.Run, experiment config.Config) Selection {
	s := Selection{Experiment: experiment, Methods: config.Ordered(experiment.Methods), runs: map[store.ID]store.Run{}}
	var leftOut []string
	for _, run := range runs {
		r := run.Result
		if !measured(r) && r.WithoutLabels == nil {
			leftOut = append(leftOut, fmt.Sprintf("%v (its accuracy was not measured)", r.RunID()))
			continue
		}
		s.runs[r.RunID()] = run
		for _, problem := range r.Unpublished {
			if !slices.Contains(s.unpublished, problem) {
				s.unpublished = append(s.unpublished, problem)
			}
		}
	}
	planned := len(experiment.Variants) * len(experiment.Tasks) * len(s.Methods) * len(experiment.Seeds)
	if len(s.runs) < planned {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d runs are finished.", len(s.runs), planned))
	}
	if len(s.unpublished) > 0 {
		s.Notes = append(s.Notes, "Not beside the paper's numbers, because the data are not the published ones: "+strings.Join(s.unpublished, "; ")+".")
	}
	if len(leftOut) > 0 {
		s.Notes = append(s.Notes, "Left out: "+strings.Join(leftOut, "; ")+".")
	}
	return s
}

// measured reports whether the accuracy of a run was measured.
func measured(r store.Result) bool { return r.BestAccuracy.Measured && r.LastAccuracy.Measured }

// WithoutLabels returns a method's runs on a task that say what they know without target
// labels, whether or not an accuracy could be measured, seeds in the experiment's order.
func (s Selection) WithoutLabels(variant, task, method string) []store.Run {
	return s.of(variant, task, method, func(r store.Result) bool { return r.WithoutLabels != nil })
}

// Runs returns a method's runs on a task whose accuracy was measured, seeds in the
// experiment's order.
func (s Selection) Runs(variant, task, method string) []store.Run {
	return s.of(variant, task, method, measured)
}

// of returns a method's runs on a task whose results satisfy the condition.
func (s Selection) of(variant, task, method string, condition func(store.Result) bool) (runs []store.Run) {
	for _, seed := range s.Experiment.Seeds {
		run, ok := s.runs[store.ID{Variant: variant, Task: task, Method: method, Seed: seed}]
		if ok && condition(run.Result) {
			runs = append(runs, run)
		}
	}
	return runs
}

// OnlyWithoutLabels reports whether there are runs and no accuracy of any was measured.
func (s Selection) OnlyWithoutLabels() bool {
	for _, run := range s.runs {
		if measured(run.Result) {
			return false
		}
	}
	return len(s.runs) > 0
}

// Published is the name of the experiment's data set for what the paper prints of it, and "" if a run was
// made of data that are not the published ones, beside which the paper's numbers say nothing.
func (s Selection) Published() string {
	if len(s.unpublished) > 0 {
		return ""
	}
	return s.Experiment.Dataset.Name
}

// Title is the experiment's name with what is shown of it.
func (s Selection) Title(what string) string { return s.Experiment.Experiment + ": " + what }

// NamedVariants are the experiment's variants without class fractions: few, and each of
// interest by itself.
func NamedVariants(experiment config.Config) []string {
	return slices.DeleteFunc(slices.Clone(experiment.Variants), func(variant string) bool {
		return config.FractionsDomain(variant) != ""
	})
}

// NamedTasks are the tasks of those variants, one variant after the other.
func (s Selection) NamedTasks() iter.Seq2[string, string] {
	return func(yield func(variant, task string) bool) {
		for _, variant := range NamedVariants(s.Experiment) {
			for _, task := range s.Experiment.Tasks {
				if !yield(variant, task) {
					return
				}
			}
		}
	}
}

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

// Confusions returns the predictions of each method on a task at the end of the runs, the
// counts of all seeds added up, and after each method the paper's, where it prints them. Runs
// on a test set without labels have none.
func (s Selection) Confusions(variant, task string) (all []Confusion) {
	for _, method := range s.Methods {
		runs := slices.DeleteFunc(s.Runs(variant, task, method), func(r store.Run) bool { return r.Result.Confusion == nil })
		if len(runs) == 0 {
			continue
		}
		measured := sumConfusion(runs)
		measured.Variant, measured.Task, measured.Method = variant, task, method
		all = append(all, measured)
		printed, ok := paper.Confusion(s.Published(), variant, task, method)
		if ok && len(printed.Percent) == len(measured.Classes) {
			all = append(all, Confusion{
				Variant: variant, Task: task, Method: method, Paper: true,
				Classes: measured.Classes, Percent: printed.Percent, Accuracy: printed.Accuracy,
			})
		}
	}
	return all
}

// sumConfusion adds the counts of runs on the same test set, and turns them into
// percentages.
func sumConfusion(runs []store.Run) Confusion {
	classes := runs[0].Result.Classes
	c := Confusion{Classes: classes, Seeds: len(runs)}
	right, all := 0, 0
	for y := range classes {
		row, total := make([]float64, len(classes)), 0
		for _, run := range runs {
			for predicted, n := range run.Result.Confusion[y] {
				row[predicted] += float64(n)
				total += n
			}
			right += run.Result.Confusion[y][y]
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
