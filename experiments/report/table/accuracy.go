package table

import (
	"math"

	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// accuracy shows the accuracies of every method on every task.
func accuracy(s summary.Selection) sheet.Sheet {
	return accuracySheet(summary.CompareAccuracies(s), "task")
}

// accuracyRow is a method's row with its place.
type accuracyRow struct {
	variant, task string
	summary.Row
}

// accuracySheet is the table of accuracies: a section a variant, a line a task, under that head, and
// method.
func accuracySheet(a summary.Accuracies, tasks string) sheet.Sheet {
	columns := accuracyColumns(a, tasks)
	s := sheet.Sheet{
		Experiment: a.Experiment, Title: a.Title, Unit: "percent",
		Legend: accuracyLegend(a), Notes: a.Notes,
	}
	var all []accuracyRow
	for _, block := range a.Blocks {
		var rows []accuracyRow
		for _, group := range block.Groups {
			for _, row := range group.Rows {
				rows = append(rows, accuracyRow{block.Variant, group.Task, row})
			}
		}
		s.Sections = append(s.Sections, sheet.NewSection(block.Variant, columns, rows))
		all = append(all, rows...)
	}
	s.Records = sheet.NewRecords(columns, all)
	return s
}

func accuracyColumns(a summary.Accuracies, tasks string) []sheet.Column[accuracyRow] {
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
	columns := []sheet.Column[accuracyRow]{
		word("variant", "", func(r accuracyRow) string { return r.variant }),
		word("task", tasks, func(r accuracyRow) string { return r.task }),
		word("method", "method", func(r accuracyRow) string { return r.Method }),
		count("seeds", "", func(r accuracyRow) int { return r.Seeds }),
		count("planned", "", func(r accuracyRow) int { return r.Planned }),
	}
	for _, view := range a.Shown() {
		columns = append(columns, scoreColumns(view)...)
	}
	return append(columns, []sheet.Column[accuracyRow]{
		count("pairs", "", func(r accuracyRow) int { return r.Pairs }),
		percent("paper", inPaper("paper"), pointsFormat, func(r accuracyRow) float64 { return r.Paper.Mean }),
		percent("paper_wins", "", noFormat, func(r accuracyRow) float64 { return r.Paper.Wins }),
		percent("difference", inPaper("Δ"), sheet.Printf("%+.2f"), accuracyRow.Difference),
		{Head: wins, Value: winsShown, Format: sheet.Printf("%.0f%%", " of %.0f", " (%.0f%%)")},
		percent("", "ties", sheet.Printf("%.0f%%"), func(r accuracyRow) float64 { return r.Scores[summary.Best].Ties }),
		share("seeds", func(r accuracyRow) (int, int) { return r.Seeds, r.Planned }),
	}...)
}

// scoreColumns are those of a view, the first of them for readers.
func scoreColumns(view summary.View) []sheet.Column[accuracyRow] {
	name := summary.Views[view].Name
	return []sheet.Column[accuracyRow]{
		scored(name, name, func(r accuracyRow) summary.Score { return r.Scores[view] }),
		percent(name+"_deviation", "", noFormat, func(r accuracyRow) float64 { return r.Scores[view].Deviation }),
		percent(name+"_wins", "", noFormat, func(r accuracyRow) float64 { return r.Scores[view].Wins }),
		percent(name+"_ties", "", noFormat, func(r accuracyRow) float64 { return r.Scores[view].Ties }),
	}
}

// winsShown is the share of pairs won, their number where it is not that of the planned
// seeds, and the paper's share.
func winsShown(r accuracyRow) sheet.Value {
	pairs := math.NaN()
	if r.Pairs > 0 && r.Pairs < r.Planned {
		pairs = float64(r.Pairs)
	}
	return sheet.Percent(r.Scores[summary.Best].Wins, pairs, r.Paper.Wins)
}

// accuracyLegend explains the columns.
func accuracyLegend(a summary.Accuracies) string {
	text, between := "Accuracy on the target's test set in percent, mean ± standard deviation over seeds. ", ""
	for _, view := range a.Shown() {
		text += between + summary.Views[view].Name + ": " + summary.Views[view].Legend
		between = ". "
		if view == summary.Best {
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
