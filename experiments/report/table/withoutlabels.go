package table

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
)

// withoutLabels shows what runs know of their target without one of its labels: for each
// variant without class fractions and each task, how sure the methods are and how well
// they do on held-out source rows, and the target's class shares.
func withoutLabels(s summary.Selection) sheet.Sheet {
	built := newSheet(s, "known without target labels")
	built.Legend = "Values at the end of the run, mean ± standard deviation over seeds. source accuracy: accuracy on held-out source rows, in percent. " +
		"certainty: mean largest probability on the target, in percent; networks are often certain of mistakes. " +
		"Class shares of the target, in percent: predicted, the mean probabilities; likely, the maximum likelihood estimate from calibrated probabilities; estimated, the shares behind the class weights. seeds: finished and planned ones."
	var all []classValues
	for variant, task := range s.NamedTasks() {
		var known []unlabelledRow
		var shares []classValues
		for _, method := range s.Methods {
			if runs := s.WithoutLabels(variant, task, method); len(runs) > 0 {
				known = append(known, newUnlabelledRow(method, runs, len(s.Experiment.Seeds)))
				shares = append(shares, sharesOf(place{variant, task, method}, runs)...)
			}
		}
		if len(known) == 0 {
			continue
		}
		built.Sections = append(built.Sections,
			sheet.NewSection(variant+", "+task, unlabelledColumns(known), known),
			sheet.NewSection(variant+", "+task+": class shares of the target", shareColumns(shares[0].classes), shares))
		all = append(all, shares...)
	}
	built.Records = classRecords("by", "share", all)
	return built
}

// unlabelledRow sums up a method's runs on a task.
type unlabelledRow struct {
	method              string
	accuracy, certainty summary.Score // in percent; the accuracy over the runs that measured it
	seeds, planned      int
}

func newUnlabelledRow(method string, runs []store.Run, planned int) unlabelledRow {
	var accuracies, certainties []float64
	for _, run := range runs {
		known := run.Result.WithoutLabels
		certainties = append(certainties, 100*known.Certainty)
		if known.Validation != nil {
			accuracies = append(accuracies, 100*known.Validation.Accuracy)
		}
	}
	return unlabelledRow{method, summary.NewScore(accuracies), summary.NewScore(certainties), len(runs), planned}
}

// unlabelledColumns leaves out the accuracy if none of the rows has one.
func unlabelledColumns(rows []unlabelledRow) []sheet.Column[unlabelledRow] {
	columns := []sheet.Column[unlabelledRow]{word("", "method", func(r unlabelledRow) string { return r.method })}
	if slices.ContainsFunc(rows, func(r unlabelledRow) bool { return !math.IsNaN(r.accuracy.Mean) }) {
		columns = append(columns, scored("", "source accuracy", func(r unlabelledRow) summary.Score { return r.accuracy }))
	}
	return append(columns,
		scored("", "certainty", func(r unlabelledRow) summary.Score { return r.certainty }),
		share("seeds", func(r unlabelledRow) (int, int) { return r.seeds, r.planned }))
}

// sharesOf returns a row for each way in which one of the runs knows the target's class
// shares: the means over the runs that know them, fractions of 1.
func sharesOf(at place, runs []store.Run) []classValues {
	var rows []classValues
	classes := runs[0].Result.Classes
	for _, way := range []struct {
		by string
		of func(*store.WithoutLabels) []float64
	}{
		{"predicted", func(u *store.WithoutLabels) []float64 { return u.PredictedShares }},
		{"likely", func(u *store.WithoutLabels) []float64 { return u.LikelyShares }},
		{"estimated", func(u *store.WithoutLabels) []float64 { return u.EstimatedShares }},
	} {
		row := classValues{place: at, of: way.by, classes: classes, values: make([]float64, len(classes))}
		for _, run := range runs {
			if shares := way.of(run.Result.WithoutLabels); len(shares) == len(row.values) {
				row.seeds++
				floats.Add(row.values, shares)
			}
		}
		if row.seeds == 0 {
			continue
		}
		for c := range row.values {
			row.values[c] /= float64(row.seeds)
		}
		rows = append(rows, row)
	}
	return rows
}

func shareColumns(classes []string) []sheet.Column[classValues] {
	return append([]sheet.Column[classValues]{
		word("", "method", func(r classValues) string { return r.method }),
		word("", "shares", func(r classValues) string { return r.of }),
	}, classColumns(classes, 100)...)
}
