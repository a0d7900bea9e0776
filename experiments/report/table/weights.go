package table

import (
	"gonum.org/v1/gonum/floats"

	"iwda/experiments/paper"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// classWeights are those of a method on a task, or the true ones.
type classWeights struct {
	variant, task, method string
	of                    string // "true", "run" or "paper"
	classes               []string
	weights               []float64
	distance              summary.Score // to the true weights
	seeds, planned        int
}

// weights shows, for each variant without class fractions and each task, the class
// weights that every method ended with, their distance to the true ones, and the
// paper's.
func weights(s summary.Selection) sheet.Sheet {
	built := newSheet(s, "class weights")
	built.Legend = "Class weights at the end of the run, mean over seeds; those of methods without weights are what the estimator would have used. " +
		"distance: Euclidean, to the true weights, mean ± standard deviation over seeds."
	var all []classWeights
	for _, variant := range summary.NamedVariants(s.Experiment) {
		for _, task := range s.Experiment.Tasks {
			rows := weightsOf(s, variant, task)
			if len(rows) > 0 {
				built.Sections = append(built.Sections, sheet.NewSection(variant+", "+task, weightColumns(rows[0].classes), rows))
			}
			all = append(all, rows...)
		}
	}
	built.Records = sheet.NewRecords(weightRecordColumns, byClass(all))
	return built
}

// weightsOf returns the rows of one variant and task, the true weights first, each
// method's before the paper's.
func weightsOf(s summary.Selection, variant, task string) []classWeights {
	var rows []classWeights
	dataset := s.Experiment.Dataset.Name
	for _, method := range s.Methods {
		runs := s.Runs(variant, task, method)
		if len(runs) == 0 {
			continue
		}
		row := classWeights{variant: variant, task: task, classes: runs[0].Classes, planned: len(s.Experiment.Seeds)}
		add := func(method, of string, weights []float64, distance summary.Score, seeds int) {
			row.method, row.of, row.weights, row.distance, row.seeds = method, of, weights, distance, seeds
			rows = append(rows, row)
		}
		exact := func(distance float64) summary.Score { return summary.NewScore([]float64{distance}) }
		if rows == nil {
			if truth := runs[0].TrueWeights; len(truth) > 0 {
				add("true weights", "true", truth, exact(0), 0)
			}
			if truth := paper.TrueWeights(dataset, variant, task); len(truth) == len(row.classes) {
				add("true weights", "paper", truth, exact(0), 0)
			}
		}
		var distances []float64
		mean := make([]float64, len(row.classes))
		for _, run := range runs {
			floats.AddScaled(mean, 1/float64(len(runs)), run.Weights)
			distances = append(distances, run.WeightDistance.OrNaN())
		}
		add(method, "run", mean, summary.NewScore(distances), len(runs))
		if printed, ok := paper.Weights(dataset, variant, task, method); ok && len(printed.Weights) == len(row.classes) {
			add(method, "paper", printed.Weights, exact(printed.Distance), 0)
		}
	}
	return rows
}

func weightColumns(classes []string) []sheet.Column[classWeights] {
	columns := []sheet.Column[classWeights]{{Head: "method", Key: true, Value: func(r classWeights) sheet.Value {
		if r.of == "paper" {
			return sheet.Word(r.method + " (paper)")
		}
		return sheet.Word(r.method)
	}}}
	for c, class := range classes {
		columns = append(columns, sheet.Column[classWeights]{
			Head: class, Format: sheet.Printf("%.2f"), Value: func(r classWeights) sheet.Value { return sheet.Number(r.weights[c]) },
		})
	}
	return append(columns,
		sheet.Column[classWeights]{Head: "distance", Format: scoreFormat, Value: func(r classWeights) sheet.Value {
			return sheet.Number(r.distance.Mean, r.distance.Deviation)
		}},
		sheet.Column[classWeights]{Head: "seeds", Format: shareFormat, Value: func(r classWeights) sheet.Value {
			if r.seeds == 0 {
				return sheet.Value{}
			}
			return share(r.seeds, r.planned)
		}})
}

// classWeight is the weight of one class.
type classWeight struct {
	classWeights
	class  string
	weight float64
}

func byClass(rows []classWeights) []classWeight {
	var all []classWeight
	for _, r := range rows {
		for c, weight := range r.weights {
			all = append(all, classWeight{r, r.classes[c], weight})
		}
	}
	return all
}

var weightRecordColumns = []sheet.Column[classWeight]{
	{Name: "variant", Value: func(w classWeight) sheet.Value { return sheet.Word(w.variant) }},
	{Name: "task", Value: func(w classWeight) sheet.Value { return sheet.Word(w.task) }},
	{Name: "method", Value: func(w classWeight) sheet.Value { return sheet.Word(w.method) }},
	{Name: "of", Value: func(w classWeight) sheet.Value { return sheet.Word(w.of) }},
	{Name: "class", Value: func(w classWeight) sheet.Value { return sheet.Word(w.class) }},
	{Name: "weight", Value: func(w classWeight) sheet.Value { return sheet.Number(w.weight) }},
	{Name: "distance", Value: func(w classWeight) sheet.Value { return sheet.Number(w.distance.Mean) }},
	{Name: "seeds", Value: func(w classWeight) sheet.Value { return sheet.Count(w.seeds) }},
}
