package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
)

// accuracySheet is the table of accuracies: a section a variant, a line a task, under that head, and
// method.
func accuracySheet(a Accuracies, tasks string) sheet.Sheet {
	columns := accuracyColumns(a, tasks)
	s := sheet.Sheet{
		Experiment: a.Experiment, Title: a.Title, Unit: "percent",
		Legend: accuracyLegend(a), Notes: a.Notes,
	}
	for _, variant := range a.Variants() {
		rows := slices.DeleteFunc(slices.Clone(a.Rows), func(r Row) bool { return r.Variant != variant })
		s.Sections = append(s.Sections, sheet.NewSection(variant, columns, rows))
	}
	s.Records = sheet.NewRecords(columns, a.Rows)
	return s
}

func accuracyColumns(a Accuracies, tasks string) []sheet.Column[Row] {
	wins := "wins"
	if a.InPaper {
		wins = "wins (paper)"
	}
	// inPaper shows a column only beside the paper's numbers.
	inPaper := func(head string) string {
		if a.InPaper {
			return head
		}
		return ""
	}
	columns := []sheet.Column[Row]{
		word("variant", "", func(r Row) string { return r.Variant }),
		word("task", tasks, func(r Row) string { return r.Task }),
		word("method", "method", func(r Row) string { return r.Method }),
		count("seeds", "", func(r Row) int { return r.Seeds }),
		count("planned", "", func(r Row) int { return r.Planned }),
	}
	for _, view := range a.Shown() {
		columns = append(columns, scoreColumns(view)...)
	}
	return append(columns, []sheet.Column[Row]{
		count("pairs", "", func(r Row) int { return r.Pairs }),
		percent("paper", inPaper("paper"), pointsFormat, func(r Row) float64 { return r.Paper.Mean }),
		percent("paper_wins", "", noFormat, func(r Row) float64 { return r.Paper.Wins }),
		percent("difference", inPaper("Δ"), sheet.Printf("%+.2f"), Row.Difference),
		{Head: wins, Value: winsShown, Format: sheet.Printf("%.0f%%", " of %.0f", " (%.0f%%)")},
		percent("", "ties", sheet.Printf("%.0f%%"), func(r Row) float64 { return r.Scores[Best].Ties }),
		share("seeds", func(r Row) (int, int) { return r.Seeds, r.Planned }),
	}...)
}

// scoreColumns are those of a view, the first of them for readers.
func scoreColumns(view View) []sheet.Column[Row] {
	name := Views[view].Name
	return []sheet.Column[Row]{
		scored(name, name, func(r Row) Score { return r.Scores[view] }),
		percent(name+"_deviation", "", noFormat, func(r Row) float64 { return r.Scores[view].Deviation }),
		percent(name+"_wins", "", noFormat, func(r Row) float64 { return r.Scores[view].Wins }),
		percent(name+"_ties", "", noFormat, func(r Row) float64 { return r.Scores[view].Ties }),
	}
}

// winsShown is the share of pairs won, their number where it is not that of the planned
// seeds, and the paper's share.
func winsShown(r Row) sheet.Value {
	pairs := math.NaN()
	if r.Pairs > 0 && r.Pairs < r.Planned {
		pairs = float64(r.Pairs)
	}
	return sheet.Percent(r.Scores[Best].Wins, pairs, r.Paper.Wins)
}

// accuracyLegend explains the columns.
func accuracyLegend(a Accuracies) string {
	text, between := "Accuracy on the target's test set in percent, mean ± standard deviation over seeds. ", ""
	for _, view := range a.Shown() {
		text += between + Views[view].Name + ": " + Views[view].Legend
		between = ". "
		if view == Best {
			between = "; "
		}
	}
	text += ". "
	if a.InPaper {
		text += "paper: the paper's value, a best epoch too; Δ: best less paper. "
	}
	text += "wins: of the seeds that are finished with class weights and without, the share in which the best epoch with them has a larger accuracy, as printed"
	if a.InPaper {
		text += "; in brackets the paper's share"
	}
	return text + ". ties: the share in which both have the same. seeds: finished of planned."
}

// Average puts the averages over tasks of several experiments side by side, as the
// paper's first table of results: a section a variant, a data set in the place of a task. A data set with
// a single task is its own average. Variants without an average yet are missing, and a
// note says so.
func Average(experiments []Selection) sheet.Sheet {
	return accuracySheet(average(experiments), "data")
}

func average(experiments []Selection) Accuracies {
	average := Accuracies{Experiment: "average", Title: "Average over the tasks of each data set"}
	seen := map[string]bool{}
	for _, experiment := range experiments {
		a := CompareAccuracies(experiment)
		name := a.Dataset
		if seen[name] {
			name = a.Experiment
		}
		seen[name] = true
		average.InPaper = average.InPaper || a.InPaper
		for _, note := range a.Notes {
			average.Notes = append(average.Notes, name+": "+note)
		}
		for _, variant := range a.Variants() {
			rows := a.Average(variant)
			switch {
			case config.FractionsDomain(variant) != "":
				average.Notes = append(average.Notes, fmt.Sprintf("%s: %s is no variant of the paper's averages.", name, variant))
				rows = nil
			case len(rows) == 0:
				average.Notes = append(average.Notes, fmt.Sprintf("%s: no average of %s: a task has no finished run.", name, variant))
			}
			for _, row := range rows {
				row.Task = name
				average.Rows = append(average.Rows, row)
			}
		}
	}
	slices.SortStableFunc(average.Rows, func(a, b Row) int { return strings.Compare(a.Variant, b.Variant) }) // full, subsampled
	return average
}

// ablation returns the table of the averages over tasks of those methods of DANN's and
// CDAN's families that have no weights, or weights from that source: the paper's
// ablations.
func ablation(weights config.WeightSource) func(Selection) sheet.Sheet {
	return func(s Selection) sheet.Sheet {
		return accuracySheet(ablate(CompareAccuracies(s), weights), "task")
	}
}

func ablate(a Accuracies, weights config.WeightSource) Accuracies {
	ablated := a
	ablated.Title = fmt.Sprintf("%s: %s weights in one loss or both", a.Title, map[config.WeightSource]string{
		config.EstimatedWeights: "estimated", config.OracleWeights: "true",
	}[weights])
	ablated.Rows = nil
	ablated.Notes = slices.Clone(a.Notes)
	for _, variant := range a.Variants() {
		rows := a.Average(variant)
		if len(rows) == 0 {
			ablated.Notes = append(ablated.Notes, fmt.Sprintf("No average of %s: a task has no finished run.", variant))
		}
		rows = slices.DeleteFunc(rows, func(row Row) bool {
			method, _ := config.ParseMethod(row.Method)
			return !method.Alignment.Properties().Ablated || method.Weights != config.NoWeights && method.Weights != weights
		})
		slices.SortStableFunc(rows, func(a, b Row) int { return ablationRank(a.Method) - ablationRank(b.Method) })
		ablated.Rows = append(ablated.Rows, rows...)
	}
	return ablated
}

// ablationRank orders methods as the paper's ablations do: family by family, and
// in a family no weights, weights in the classification loss, in the domain loss, in
// both.
func ablationRank(name string) int {
	method, _ := config.ParseMethod(name)
	return 4*method.Alignment.Properties().Place + oneIf(method.WeightClassification) + 2*oneIf(method.WeightDomain)
}
