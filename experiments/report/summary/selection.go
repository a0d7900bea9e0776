// Package summary computes from finished runs what tables and figures show: which
// results count, accuracies beside the paper's, gains by class fractions, predictions by
// class.
//
// Accuracies are in percent here, as the paper prints them; results hold fractions of 1.
// The best epoch is chosen on target labels, which a user does not have, so that the
// last one always stands beside it.
package summary

import (
	"fmt"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// Selection is the results of an experiment's planned runs. What a run without target
// labels has is no accuracy, so that [Selection.Runs] leaves it out.
type Selection struct {
	Experiment config.Config
	Methods    []string // those of the experiment, in the paper's order
	Notes      []string // how many runs are missing, what was left out, sentences

	results map[store.ID]store.Result
}

// Select chooses the results of the experiment's planned runs. Notes say how many are
// missing, and which results it leaves out and why.
func Select(results []store.Result, experiment config.Config) Selection {
	s := Selection{Experiment: experiment, Methods: config.Ordered(experiment.Methods), results: map[store.ID]store.Result{}}
	var leftOut []string
	for _, r := range results {
		id := store.ID{Variant: r.Variant, Task: r.Task, Method: r.Method, Seed: r.Seed}
		_, twice := s.results[id]
		why := ""
		switch {
		case r.Experiment != experiment.Experiment:
			why = fmt.Sprintf("of experiment %q", r.Experiment)
		case !slices.Contains(experiment.Variants, r.Variant) || !slices.Contains(experiment.Tasks, r.Task) ||
			!slices.Contains(s.Methods, r.Method) || !slices.Contains(experiment.Seeds, r.Seed):
			why = "not planned"
		case !measured(r) && r.WithoutLabels == nil:
			why = "its accuracy was not measured"
		case twice:
			why = "there twice"
		default:
			s.results[id] = r
			continue
		}
		leftOut = append(leftOut, fmt.Sprintf("%v (%s)", id, why))
	}
	runs := len(experiment.Variants) * len(experiment.Tasks) * len(s.Methods) * len(experiment.Seeds)
	if len(s.results) < runs {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d runs are finished.", len(s.results), runs))
	}
	if len(leftOut) > 0 {
		s.Notes = append(s.Notes, "Left out: "+strings.Join(leftOut, "; ")+".")
	}
	return s
}

// measured reports whether the accuracy of a run was measured.
func measured(r store.Result) bool { return r.BestAccuracy.Measured && r.LastAccuracy.Measured }

// WithoutLabels returns the results of a method's runs on a task that say what they know
// without target labels, whether or not an accuracy could be measured, seeds in the
// experiment's order.
func (s Selection) WithoutLabels(variant, task, method string) []store.Result {
	return s.of(variant, task, method, func(r store.Result) bool { return r.WithoutLabels != nil })
}

// Runs returns the results of a method's runs on a task whose accuracy was measured, seeds
// in the experiment's order.
func (s Selection) Runs(variant, task, method string) []store.Result {
	return s.of(variant, task, method, measured)
}

// of returns the results of a method's runs on a task that satisfy the condition.
func (s Selection) of(variant, task, method string, condition func(store.Result) bool) (results []store.Result) {
	for _, seed := range s.Experiment.Seeds {
		r, ok := s.results[store.ID{Variant: variant, Task: task, Method: method, Seed: seed}]
		if ok && condition(r) {
			results = append(results, r)
		}
	}
	return results
}

// OnlyWithoutLabels reports whether there are results and no accuracy of any was measured.
func (s Selection) OnlyWithoutLabels() bool {
	for _, r := range s.results {
		if measured(r) {
			return false
		}
	}
	return len(s.results) > 0
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
