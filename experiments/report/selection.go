package report

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// place is where runs that differ only in their seed belong.
type place struct {
	variant, task, method string
}

// selection is the results of an experiment's planned runs, by place, seeds in the
// experiment's order, and what was left out.
type selection struct {
	experiment config.Config
	methods    []string // those of the experiment, in the paper's order
	results    map[place][]store.Result
	notes      []string
}

func selectResults(results []store.Result, experiment config.Config) selection {
	s := selection{experiment: experiment, methods: orderedMethods(experiment), results: map[place][]store.Result{}}
	planned, leftOut := selectPlanned(results, experiment)
	for _, variant := range experiment.Variants {
		for _, task := range experiment.Tasks {
			for _, method := range s.methods {
				for _, seed := range experiment.Seeds {
					if result, ok := planned[store.ID{Variant: variant, Task: task, Method: method, Seed: seed}.String()]; ok {
						at := place{variant, task, method}
						s.results[at] = append(s.results[at], result)
					}
				}
			}
		}
	}
	s.notes = selectionNotes(len(planned), experiment, leftOut)
	return s
}

// title is the experiment's name with what is shown of it.
func (s selection) title(what string) string { return s.experiment.Experiment + ": " + what }

// orderedMethods are those of the experiment, in the paper's order.
func orderedMethods(experiment config.Config) []string {
	return slices.DeleteFunc(config.MethodNames(), func(name string) bool {
		return !slices.Contains(experiment.Methods, name)
	})
}

// namedVariants are the experiment's variants without class fractions: few, and
// each of interest by itself.
func namedVariants(experiment config.Config) []string {
	return slices.DeleteFunc(slices.Clone(experiment.Variants), func(variant string) bool {
		return config.FractionsDomain(variant) != ""
	})
}

// meanVector is the mean of vectors of one length.
func meanVector(vectors [][]float64) []float64 {
	mean := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		floats.AddScaled(mean, 1/float64(len(vectors)), v)
	}
	return mean
}
