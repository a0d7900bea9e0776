package table

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/experiments/paper"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// weights shows, for each variant without class fractions and each task, the class
// weights that every method ended with, their distance to the true ones, and the
// paper's.
func weights(s summary.Selection) sheet.Sheet {
	built := newSheet(s, "class weights")
	built.Legend = "Class weights at the end of the run, mean over seeds; for methods without weights, those that the estimator would have given. " +
		"distance: Euclidean distance to the true weights, mean ± standard deviation over seeds."
	var all []classValues
	for variant, task := range s.NamedTasks() {
		rows := weightsOf(s, variant, task)
		if len(rows) > 0 {
			built.Sections = append(built.Sections, sheet.NewSection(variant+", "+task, weightColumns(rows[0].classes), rows))
		}
		all = append(all, rows...)
	}
	built.Records = weightRecords(all)
	return built
}

// weightsOf returns the rows of one variant and task, of "true", "run" or "paper": the true
// weights first, each method's before the paper's.
func weightsOf(s summary.Selection, variant, task string) []classValues {
	var rows []classValues
	dataset := s.Published()
	for _, method := range s.Methods {
		runs := s.Runs(variant, task, method)
		if len(runs) == 0 {
			continue
		}
		row := classValues{place: place{variant: variant, task: task}, classes: runs[0].Result.Classes}
		add := func(method, of string, weights []float64, distance summary.Score, seeds int) {
			row.method, row.of, row.values, row.distance, row.seeds = method, of, weights, distance, seeds
			if row.planned = 0; seeds > 0 {
				row.planned = len(s.Experiment.Seeds)
			}
			rows = append(rows, row)
		}
		exact := func(distance float64) summary.Score { return summary.NewScore([]float64{distance}) }
		if rows == nil {
			if truth := runs[0].Result.TrueWeights; len(truth) > 0 {
				add("true weights", "true", truth, exact(0), 0)
			}
			if truth := paper.TrueWeights(dataset, variant, task); len(truth) == len(row.classes) {
				add("true weights", "paper", truth, exact(0), 0)
			}
		}
		var distances []float64
		mean := make([]float64, len(row.classes))
		for _, run := range runs {
			floats.AddScaled(mean, 1/float64(len(runs)), run.Result.Weights)
			distances = append(distances, run.Result.WeightDistance.OrNaN())
		}
		add(method, "run", mean, summary.NewScore(distances), len(runs))
		if printed, ok := paper.Weights(dataset, variant, task, method); ok && len(printed.Weights) == len(row.classes) {
			add(method, "paper", printed.Weights, exact(printed.Distance), 0)
		}
	}
	return rows
}

func weightColumns(classes []string) []sheet.Column[classValues] {
	method := word("", "method", func(r classValues) string {
		if r.of == "paper" {
			return r.method + " (paper)"
		}
		return r.method
	})
	return slices.Concat([]sheet.Column[classValues]{method}, classColumns(classes), []sheet.Column[classValues]{
		scored("", "distance", func(r classValues) summary.Score { return r.distance }),
		share("seeds", func(r classValues) (int, int) { return r.seeds, r.planned }),
	})
}
