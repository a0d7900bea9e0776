package table

import (
	"math"

	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// accuracy shows the accuracies of every method on every task.
func accuracy(s summary.Selection) sheet.Sheet {
	return accuracySheet(summary.CompareAccuracies(s), byTask)
}

// accuracyRow is a method's row with its place.
type accuracyRow struct {
	variant, task string
	summary.Row
}

// accuracySheet is the table of accuracies: a section a variant, a line a task and
// method. Its LaTeX is laid out as the paper's.
func accuracySheet(a summary.Accuracies, by layout) sheet.Sheet {
	columns := accuracyColumns(a, by)
	s := sheet.Sheet{
		Experiment: a.Experiment, Title: a.Title, Unit: "percent",
		Legend: accuracyLegend(a), Notes: a.Notes, Tabulars: paperLayout{a, by}.tabulars(),
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

func accuracyColumns(a summary.Accuracies, by layout) []sheet.Column[accuracyRow] {
	tasks, wins := "task", "wins"
	if by == byDataset {
		tasks = "data"
	}
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
		{Name: "variant", Value: func(r accuracyRow) sheet.Value { return sheet.Word(r.variant) }},
		{Name: "task", Head: tasks, Key: true, Value: func(r accuracyRow) sheet.Value { return sheet.Word(r.task) }},
		{Name: "method", Head: "method", Key: true, Value: func(r accuracyRow) sheet.Value { return sheet.Word(r.Method) }},
		{Name: "seeds", Value: func(r accuracyRow) sheet.Value { return sheet.Count(r.Seeds) }},
		{Name: "planned", Value: func(r accuracyRow) sheet.Value { return sheet.Count(r.Planned) }},
	}
	for _, view := range a.Shown() {
		columns = append(columns, scoreColumns(view)...)
	}
	return append(columns, []sheet.Column[accuracyRow]{
		{Name: "pairs", Value: func(r accuracyRow) sheet.Value { return sheet.Count(r.Pairs) }},
		{Name: "paper", Head: inPaper("paper"), Format: sheet.Printf("%.2f"),
			Value: func(r accuracyRow) sheet.Value { return sheet.Percent(r.Paper.Mean) }},
		{Name: "paper_wins", Value: func(r accuracyRow) sheet.Value { return sheet.Percent(r.Paper.Wins) }},
		{Name: "difference", Head: inPaper("Δ"), Format: sheet.Printf("%+.2f"),
			Value: func(r accuracyRow) sheet.Value { return sheet.Percent(r.Difference()) }},
		{Head: wins, Value: winsShown, Format: sheet.Printf("%.0f%%", " of %.0f", " (%.0f%%)")},
		{Head: "seeds", Value: func(r accuracyRow) sheet.Value { return share(r.Seeds, r.Planned) }, Format: shareFormat},
	}...)
}

// scoreColumns are those of a view, the first of them for readers.
func scoreColumns(view summary.View) []sheet.Column[accuracyRow] {
	name := summary.Views[view].Name
	return []sheet.Column[accuracyRow]{
		{Name: name, Head: name, Format: scoreFormat,
			Value: func(r accuracyRow) sheet.Value { return sheet.Percent(r.Scores[view].Mean, r.Scores[view].Deviation) }},
		{Name: name + "_deviation", Value: func(r accuracyRow) sheet.Value { return sheet.Percent(r.Scores[view].Deviation) }},
		{Name: name + "_wins", Value: func(r accuracyRow) sheet.Value { return sheet.Percent(r.Scores[view].Wins) }},
	}
}

// scoreFormat prints a mean and a standard deviation.
var scoreFormat = sheet.Printf("%.2f", " ± %.2f")

// winsShown is the share of pairs won, their number where it is not that of the planned
// seeds, and the paper's share.
func winsShown(r accuracyRow) sheet.Value {
	pairs := math.NaN()
	if r.Pairs > 0 && r.Pairs < r.Planned {
		pairs = float64(r.Pairs)
	}
	return sheet.Percent(r.Scores[summary.Best].Wins, pairs, r.Paper.Wins)
}

// share is a number of a whole, printed by shareFormat.
func share(part, whole int) sheet.Value { return sheet.Number(float64(part), float64(whole)) }

var shareFormat = sheet.Printf("%.0f", "/%.0f")

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
	text += "wins: share of seeds in which the best epoch is at least as good as that of the method without weights, " +
		"on as many seeds as there are pairs"
	if a.InPaper {
		text += ", and the paper's share"
	}
	return text + ". seeds: finished of planned."
}
