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

	results map[place][]store.Result // seeds in the experiment's order
	// withoutLabels are those that say what they know without target labels, whether or
	// not an accuracy could be measured.
	withoutLabels map[place][]store.Result
}

// place is where runs that differ only in their seed belong.
type place struct {
	variant, task, method string
}

// Select chooses the results of the experiment's planned runs. Notes say how many are
// missing, and which results it leaves out and why.
func Select(results []store.Result, experiment config.Config) Selection {
	s := Selection{Experiment: experiment, results: map[place][]store.Result{}, withoutLabels: map[place][]store.Result{}}
	s.Methods = slices.DeleteFunc(config.MethodNames(), func(name string) bool {
		return !slices.Contains(experiment.Methods, name)
	})
	planned := map[string]bool{}
	var leftOut []string
	for _, r := range results {
		id := store.ID{Variant: r.Variant, Task: r.Task, Method: r.Method, Seed: r.Seed}.String()
		at := place{r.Variant, r.Task, r.Method}
		measured := r.BestAccuracy.Measured && r.LastAccuracy.Measured
		switch {
		case r.Experiment != experiment.Experiment:
			leftOut = append(leftOut, fmt.Sprintf("%s (of experiment %q)", id, r.Experiment))
			continue
		case !slices.Contains(experiment.Variants, r.Variant) || !slices.Contains(experiment.Tasks, r.Task) ||
			!slices.Contains(s.Methods, r.Method) || !slices.Contains(experiment.Seeds, r.Seed):
			leftOut = append(leftOut, id+" (not planned)")
			continue
		case !measured && r.WithoutLabels == nil:
			leftOut = append(leftOut, id+" (its accuracy was not measured)")
			continue
		case planned[id]:
			leftOut = append(leftOut, id+" (there twice)")
			continue
		}
		planned[id] = true
		if measured {
			s.results[at] = append(s.results[at], r)
		}
		if r.WithoutLabels != nil {
			s.withoutLabels[at] = append(s.withoutLabels[at], r)
		}
	}
	for _, all := range []map[place][]store.Result{s.results, s.withoutLabels} {
		for _, ofPlace := range all {
			slices.SortFunc(ofPlace, func(a, b store.Result) int {
				return slices.Index(experiment.Seeds, a.Seed) - slices.Index(experiment.Seeds, b.Seed)
			})
		}
	}
	runs := len(experiment.Variants) * len(experiment.Tasks) * len(s.Methods) * len(experiment.Seeds)
	if len(planned) < runs {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d runs are finished.", len(planned), runs))
	}
	if len(leftOut) > 0 {
		s.Notes = append(s.Notes, "Left out: "+strings.Join(leftOut, "; ")+".")
	}
	return s
}

// WithoutLabels returns the results of a method's runs on a task that say what they know
// without target labels, seeds in the experiment's order.
func (s Selection) WithoutLabels(variant, task, method string) []store.Result {
	return s.withoutLabels[place{variant, task, method}]
}

// Runs returns the results of a method's runs on a task whose accuracy was measured, seeds
// in the experiment's order.
func (s Selection) Runs(variant, task, method string) []store.Result {
	return s.results[place{variant, task, method}]
}

// OnlyWithoutLabels reports whether there are results and no accuracy of any was measured.
func (s Selection) OnlyWithoutLabels() bool { return len(s.results) == 0 && len(s.withoutLabels) > 0 }

// Title is the experiment's name with what is shown of it.
func (s Selection) Title(what string) string { return s.Experiment.Experiment + ": " + what }

// NamedVariants are the experiment's variants without class fractions: few, and each of
// interest by itself.
func NamedVariants(experiment config.Config) []string {
	return slices.DeleteFunc(slices.Clone(experiment.Variants), func(variant string) bool {
		return config.FractionsDomain(variant) != ""
	})
}
