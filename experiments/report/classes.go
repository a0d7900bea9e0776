package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/experiments/paper"
	"iwda/experiments/report/sheet"
)

// classValues are numbers of a method on a task, one a class: weights, shares, predictions.
type classValues struct {
	place
	of             string // which of those of the method, as "paper" or "estimated"
	classes        []string
	values         []float64
	distance       Score // of weights, to the true ones
	seeds, planned int
}

// classColumns are the columns of the classes for readers.
func classColumns(classes []string) []sheet.Column[classValues] {
	var columns []sheet.Column[classValues]
	for c, class := range classes {
		columns = append(columns, number("", class, pointsFormat, func(r classValues) float64 { return r.values[c] }))
	}
	return columns
}

// classValue is the number of one class.
type classValue struct {
	classValues
	class string
	value float64
}

// weightRecords are records of the weight of one class each.
func weightRecords(rows []classValues) sheet.Records {
	columns := append(placeColumns(func(v classValue) place { return v.place }), []sheet.Column[classValue]{
		word("of", "", func(v classValue) string { return v.of }),
		word("class", "", func(v classValue) string { return v.class }),
		number("weight", "", noFormat, func(v classValue) float64 { return v.value }),
		number("distance", "", noFormat, func(v classValue) float64 { return v.distance.Mean }),
		count("seeds", "", func(v classValue) int { return v.seeds }),
	}...)
	var all []classValue
	for _, r := range rows {
		for c, value := range r.values {
			all = append(all, classValue{r, r.classes[c], value})
		}
	}
	return sheet.NewRecords(columns, all)
}

// confusion shows the predictions by class, a section a method, the paper's after ours.
func confusion(s Selection) sheet.Sheet {
	built := newSheet(s, "predictions by class")
	built.Unit = "percent"
	built.Legend = "Predictions (columns) for each true class (rows) of the target's test set in percent, at the end of the runs, all seeds together. " +
		"The paper does not say at which epoch it took its own."
	var cells []confusionCell
	for variant, task := range s.NamedTasks() {
		for _, c := range s.Confusions(variant, task) {
			from := fmt.Sprintf("%d/%d seeds", c.Seeds, len(s.Experiment.Seeds))
			if c.Paper {
				from = "one run"
			}
			title := fmt.Sprintf("%s, %s, %s: accuracy %.2f, %s", variant, task, c.Name(), c.Accuracy, from)
			columns := []sheet.Column[classValues]{word("", "class", func(r classValues) string { return r.of })}
			var rows []classValues
			for y, percent := range c.Percent {
				rows = append(rows, classValues{of: c.Classes[y], values: percent})
				for predicted := range c.Classes {
					cells = append(cells, confusionCell{c, y, predicted})
				}
			}
			built.Sections = append(built.Sections, sheet.NewSection(title, append(columns, classColumns(c.Classes)...), rows))
		}
	}
	built.Records = sheet.NewRecords(confusionColumns, cells)
	return built
}

// confusionCell is the predictions of one class for one true class.
type confusionCell struct {
	Confusion
	class, predicted int
}

var confusionColumns = append(placeColumns(func(c confusionCell) place { return place{c.Variant, c.Task, c.Method} }), []sheet.Column[confusionCell]{
	{Name: "of", Value: func(c confusionCell) sheet.Value {
		if c.Paper {
			return sheet.Word("paper")
		}
		return sheet.Word("run")
	}},
	count("seeds", "", func(c confusionCell) int { return c.Seeds }),
	word("class", "", func(c confusionCell) string { return c.Classes[c.class] }),
	word("predicted", "", func(c confusionCell) string { return c.Classes[c.predicted] }),
	percent("percent", "", noFormat, func(c confusionCell) float64 { return c.Percent[c.class][c.predicted] }),
}...)

// weights shows, for each variant without class fractions and each task, the class
// weights that every method ended with, their distance to the true ones, and the
// paper's.
func weights(s Selection) sheet.Sheet {
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
func weightsOf(s Selection, variant, task string) []classValues {
	var rows []classValues
	dataset := s.Published()
	for _, method := range s.Methods {
		runs := s.Runs(variant, task, method)
		if len(runs) == 0 {
			continue
		}
		row := classValues{place: place{variant: variant, task: task}, classes: runs[0].Result.Classes}
		add := func(method, of string, weights []float64, distance Score, seeds int) {
			row.method, row.of, row.values, row.distance, row.seeds = method, of, weights, distance, seeds
			if row.planned = 0; seeds > 0 {
				row.planned = len(s.Experiment.Seeds)
			}
			rows = append(rows, row)
		}
		exact := func(distance float64) Score { return NewScore([]float64{distance}) }
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
		add(method, "run", mean, NewScore(distances), len(runs))
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
		scored("", "distance", func(r classValues) Score { return r.distance }),
		share("seeds", func(r classValues) (int, int) { return r.seeds, r.planned }),
	})
}
