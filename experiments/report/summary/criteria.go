package summary

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"iwda/adaptation/judge"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/inference/selection"
	"iwda/internal/printable"
)

// Criteria compare the criteria that choose without labels of the target by the accuracies of
// what they choose. Accuracies are in percent, NaN where the target has no labels.
type Criteria struct {
	Experiment string
	Choices    []Choice
	Notes      []string // what could not be compared, sentences
}

// Choice is what iwrun adapt would use of the runs of a task by a criterion, with the
// experiment's tolerance: a run, or all seeds of its method.
type Choice struct {
	Variant, Task, Criterion string
	Run, Method              string // Run is method and seed
	// Chosen is the accuracy of the run's last epoch, and Best that of the best run.
	Chosen, Best float64
	// Correlation is Spearman's rank correlation over the runs of criterion, its sign such that
	// more is better, and accuracy; NaN where one of the two is always the same.
	Correlation float64
}

// Regret is the accuracy lost to the best run.
func (c Choice) Regret() float64 { return c.Best - c.Chosen }

// CompareCriteria compares what all criteria choose among the finished runs of each task of an
// experiment. Runs that held no source rows out are left out.
func CompareCriteria(runs []store.Run, experiment config.Config) (Criteria, error) {
	s := Select(runs, experiment)
	c := Criteria{Experiment: experiment.Experiment, Notes: slices.Clone(s.Notes)}
	for _, variant := range experiment.Variants {
		for _, task := range experiment.Tasks {
			var ofTask []store.Run
			var candidates []judge.Candidate
			without := 0
			for _, run := range s.ofTask(variant, task) {
				candidate, err := judge.Read(run)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					without++
				case err != nil:
					return Criteria{}, err
				default:
					ofTask, candidates = append(ofTask, run), append(candidates, candidate)
				}
			}
			if without > 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("%s, %s: %s without held-out source rows (train.validation).", variant, task, printable.Count(without, "run")))
			}
			if len(candidates) > 0 {
				c.add(ofTask, candidates, experiment.Selection.Tolerance)
			}
		}
	}
	return c, nil
}

// ofTask returns a task's runs in the order of the experiment, in which methods
// are preferred. Where the accuracy of one was measured, it is those whose accuracy was; a
// target may have been given labels since.
func (s Selection) ofTask(variant, task string) (runs []store.Run) {
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
func (c *Criteria) add(runs []store.Run, candidates []judge.Candidate, tolerance float64) {
	variant, task := runs[0].Result.Variant, runs[0].Result.Task
	note := func(err error) {
		c.Notes = append(c.Notes, fmt.Sprintf("%s, %s: %v.", variant, task, err))
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
	var accuracies []float64
	for _, run := range runs {
		accuracies = append(accuracies, 100*run.Result.LastAccuracy.OrNaN())
	}
	for _, criterion := range selection.All() {
		choice, err := compared.Choose(criterion.Name, tolerance)
		if err != nil {
			note(err)
			continue
		}
		used := runs[choice.Used].Result
		row := Choice{
			Variant: variant, Task: task, Criterion: criterion.Name,
			Run: fmt.Sprintf("%s/seed-%d", used.Method, used.Seed), Method: used.Method,
			Chosen: accuracies[choice.Used], Best: floats.Max(accuracies),
			Correlation: correlation(criterion, choice.Judged, accuracies),
		}
		c.Choices = append(c.Choices, row)
	}
}

// correlation is Spearman's over the runs that the criterion judged, of values such that more is
// better.
func correlation(criterion selection.Criterion, judged []judge.Judgement, all []float64) float64 {
	var values, accuracies []float64
	for i, j := range judged {
		if !math.IsNaN(j.Value) {
			values, accuracies = append(values, j.Value), append(accuracies, all[i])
		}
	}
	c := stat.Correlation(ranks(values), ranks(accuracies), nil)
	if !criterion.Higher {
		c = -c
	}
	return c
}

// ranks returns the rank of each value, the mean one of equal values.
func ranks(values []float64) []float64 {
	at := map[float64][]int{}
	for i, v := range values {
		at[v] = append(at[v], i)
	}
	result, below := make([]float64, len(values)), 0
	for _, v := range slices.Sorted(maps.Keys(at)) {
		for _, i := range at[v] {
			result[i] = float64(below) + float64(len(at[v])-1)/2
		}
		below += len(at[v])
	}
	return result
}
