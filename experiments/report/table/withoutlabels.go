package table

import (
	"math"

	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
)

// withoutLabels shows what runs know of their target without one of its labels: for each
// variant without class fractions and each task, how sure the methods are and how well
// they do on held-out source rows, and the target's class shares.
func withoutLabels(s summary.Selection) sheet.Sheet {
	built := newSheet(s, "known without target labels")
	built.Legend = "At the end of the run, mean ± standard deviation over seeds. source accuracy: on held-out rows of the source, percent. " +
		"expected accuracy: on the target, what calibrated probabilities, corrected for its likely class shares, let expect where classes look alike in both domains, percent; of seeds whose predictions a test of that was made on and does not reject. " +
		"certainty: mean largest probability on the target, percent; networks are often certain of mistakes. " +
		"Class shares of the target, percent: predicted, the mean probabilities; likely, by maximum likelihood from calibrated ones; estimated, by the class weights. seeds: finished of planned."
	var all []classShares
	for _, variant := range summary.NamedVariants(s.Experiment) {
		for _, task := range s.Experiment.Tasks {
			var known []unlabelledRow
			var shares []classShares
			for _, method := range s.Methods {
				if runs := s.WithoutLabels(variant, task, method); len(runs) > 0 {
					row := newUnlabelledRow(runs, len(s.Experiment.Seeds))
					row.method = method
					known = append(known, row)
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
	}
	built.Records = sheet.NewRecords(shareRecordColumns, eachShare(all))
	return built
}

// place is where runs belong that differ only in their seed.
type place struct{ variant, task, method string }

// unlabelledRow sums up a method's runs on a task, in percent; NaN for what none of them
// measured.
type unlabelledRow struct {
	method                          string
	accuracy, expected, certainties summary.Score
	seeds, planned                  int
}

func newUnlabelledRow(runs []store.Result, planned int) unlabelledRow {
	score := func(of func(*store.WithoutLabels) float64) summary.Score {
		var values []float64
		for _, run := range runs {
			if value := of(run.WithoutLabels); !math.IsNaN(value) {
				values = append(values, 100*value)
			}
		}
		return summary.NewScore(values)
	}
	return unlabelledRow{
		accuracy: score(func(u *store.WithoutLabels) float64 {
			if u.Validation == nil {
				return math.NaN()
			}
			return u.Validation.Accuracy
		}),
		expected: score(func(u *store.WithoutLabels) float64 {
			if expected := u.TrustedAccuracy(); expected != nil {
				return expected.Value
			}
			return math.NaN()
		}),
		certainties: score(func(u *store.WithoutLabels) float64 { return u.Certainty }),
		seeds:       len(runs), planned: planned,
	}
}

// unlabelledColumns leaves out what none of the rows has.
func unlabelledColumns(rows []unlabelledRow) []sheet.Column[unlabelledRow] {
	columns := []sheet.Column[unlabelledRow]{{Head: "method", Key: true, Value: func(r unlabelledRow) sheet.Value { return sheet.Word(r.method) }}}
	for _, c := range []struct {
		head string
		of   func(unlabelledRow) summary.Score
	}{
		{"source accuracy", func(r unlabelledRow) summary.Score { return r.accuracy }},
		{"expected accuracy", func(r unlabelledRow) summary.Score { return r.expected }},
		{"certainty", func(r unlabelledRow) summary.Score { return r.certainties }},
	} {
		there := false
		for _, row := range rows {
			there = there || !math.IsNaN(c.of(row).Mean)
		}
		if there {
			columns = append(columns, sheet.Column[unlabelledRow]{Head: c.head, Format: scoreFormat, Value: func(r unlabelledRow) sheet.Value {
				return sheet.Percent(c.of(r).Mean, c.of(r).Deviation)
			}})
		}
	}
	return append(columns, sheet.Column[unlabelledRow]{Head: "seeds", Format: shareFormat, Value: func(r unlabelledRow) sheet.Value { return share(r.seeds, r.planned) }})
}

// classShares are the target's by one way to know them, means over the runs that have them.
type classShares struct {
	place
	by      string
	classes []string
	shares  []float64 // fractions of 1
	seeds   int
}

// sharesOf returns a row for each way in which one of the runs knows the shares.
func sharesOf(at place, runs []store.Result) []classShares {
	var rows []classShares
	for _, way := range []struct {
		by string
		of func(*store.WithoutLabels) []float64
	}{
		{"predicted", func(u *store.WithoutLabels) []float64 { return u.PredictedShares }},
		{"likely", func(u *store.WithoutLabels) []float64 { return u.LikelyShares }},
		{"estimated", func(u *store.WithoutLabels) []float64 { return u.EstimatedShares }},
	} {
		row := classShares{place: at, by: way.by, classes: runs[0].Classes, shares: make([]float64, len(runs[0].Classes))}
		for _, run := range runs {
			if shares := way.of(run.WithoutLabels); len(shares) == len(row.shares) {
				row.seeds++
				for c, share := range shares {
					row.shares[c] += share
				}
			}
		}
		if row.seeds == 0 {
			continue
		}
		for c := range row.shares {
			row.shares[c] /= float64(row.seeds)
		}
		rows = append(rows, row)
	}
	return rows
}

func shareColumns(classes []string) []sheet.Column[classShares] {
	columns := []sheet.Column[classShares]{
		{Head: "method", Key: true, Value: func(r classShares) sheet.Value { return sheet.Word(r.method) }},
		{Head: "shares", Key: true, Value: func(r classShares) sheet.Value { return sheet.Word(r.by) }},
	}
	for c, class := range classes {
		columns = append(columns, sheet.Column[classShares]{
			Head: class, Format: sheet.Printf("%.2f"), Value: func(r classShares) sheet.Value { return sheet.Percent(100 * r.shares[c]) },
		})
	}
	return columns
}

// classShare is the share of one class.
type classShare struct {
	classShares
	class string
	share float64
}

func eachShare(rows []classShares) []classShare {
	var all []classShare
	for _, r := range rows {
		for c, share := range r.shares {
			all = append(all, classShare{r, r.classes[c], share})
		}
	}
	return all
}

var shareRecordColumns = []sheet.Column[classShare]{
	{Name: "variant", Value: func(r classShare) sheet.Value { return sheet.Word(r.variant) }},
	{Name: "task", Value: func(r classShare) sheet.Value { return sheet.Word(r.task) }},
	{Name: "method", Value: func(r classShare) sheet.Value { return sheet.Word(r.method) }},
	{Name: "by", Value: func(r classShare) sheet.Value { return sheet.Word(r.by) }},
	{Name: "class", Value: func(r classShare) sheet.Value { return sheet.Word(r.class) }},
	{Name: "share", Value: func(r classShare) sheet.Value { return sheet.Number(r.share) }},
	{Name: "seeds", Value: func(r classShare) sheet.Value { return sheet.Count(r.seeds) }},
}
