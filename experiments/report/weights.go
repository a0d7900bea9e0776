package report

import (
	"fmt"
	"math"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

// WeightsSheet shows, for each variant without class fractions and each task, the
// class weights that every method ended with, their distance to the true ones, and
// the paper's.
func WeightsSheet(results []store.Result, experiment config.Config) Sheet {
	s := selectResults(results, experiment)
	sheet := Sheet{
		Experiment: experiment.Experiment, Title: s.title("class weights"), Notes: s.notes,
		Legend: "Class weights at the end of the run, mean over seeds; those of methods without weights are what the estimator would have used. " +
			"distance: Euclidean, to the true weights, mean ± standard deviation over seeds.",
		Records: Records{Fields: []string{"variant", "task", "method", "of", "class", "weight", "distance", "seeds"}},
	}
	for _, variant := range namedVariants(experiment) {
		for _, task := range experiment.Tasks {
			sheet.addWeights(s, variant, task)
		}
	}
	return sheet
}

func (sheet *Sheet) addWeights(s selection, variant, task string) {
	section := Section{Title: variant + ", " + task, Names: 1}
	var classes []string
	add := func(method, of string, weights []float64, distance Cell, seeds int) {
		name := method
		if of == "paper" {
			name += " (paper)"
		}
		row := []Cell{word(name)}
		for c, w := range weights {
			row = append(row, figure("%.2f", w))
			sheet.Records.Rows = append(sheet.Records.Rows, []any{variant, task, method, of, classes[c], w, distance.Value, seeds})
		}
		from := Cell{none, math.NaN()}
		if seeds > 0 {
			from = Cell{fmt.Sprintf("%d/%d", seeds, len(s.experiment.Seeds)), float64(seeds)}
		}
		section.Rows = append(section.Rows, append(row, distance, from))
	}
	for _, method := range s.methods {
		runs := s.results[place{variant, task, method}]
		if len(runs) == 0 {
			continue
		}
		if section.Rows == nil {
			classes = runs[0].Classes
			section.Header = append(append([]string{"method"}, classes...), "distance", "seeds")
			add("true weights", "true", runs[0].TrueWeights, figure("%.2f", 0), 0)
			if truth := paper.TrueWeights(s.experiment.Dataset.Name, variant, task); len(truth) == len(classes) {
				add("true weights", "paper", truth, figure("%.2f", 0), 0)
			}
		}
		var weights [][]float64
		var distances []float64
		for _, run := range runs {
			weights = append(weights, run.Weights)
			distances = append(distances, run.WeightDistance)
		}
		add(method, "run", meanVector(weights), scoreCell(score(distances)), len(runs))
		if printed, ok := paper.Weights(s.experiment.Dataset.Name, variant, task, method); ok && len(printed.Weights) == len(classes) {
			add(method, "paper", printed.Weights, figure("%.2f", printed.Distance), 0)
		}
	}
	if section.Rows != nil {
		sheet.Sections = append(sheet.Sections, section)
	}
}
