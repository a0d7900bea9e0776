package table

import (
	"fmt"
	"math"
	"slices"

	"iwda/experiments/config"
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

// Average puts the averages over tasks of several experiments side by side, as the
// paper's first table of results: a block a variant, a group a data set. A data set with
// a single task is its own average. Variants without an average yet are missing, and a
// note says so.
func Average(experiments []summary.Selection) sheet.Sheet {
	return accuracySheet(average(experiments), "data")
}

func average(experiments []summary.Selection) summary.Accuracies {
	average := summary.Accuracies{Experiment: "average", Title: "Average over the tasks of each data set"}
	blocks := map[string]*summary.Block{}
	seen := map[string]bool{}
	for _, experiment := range experiments {
		a := summary.CompareAccuracies(experiment)
		name := a.Dataset
		if seen[name] {
			name = a.Experiment
		}
		seen[name] = true
		average.InPaper = average.InPaper || a.InPaper
		for _, note := range a.Notes {
			average.Notes = append(average.Notes, name+": "+note)
		}
		for _, block := range a.Blocks {
			if config.FractionsDomain(block.Variant) != "" {
				average.Notes = append(average.Notes, fmt.Sprintf("%s: %s is no variant of the paper's averages.", name, block.Variant))
				continue
			}
			group, ok := a.Average(block)
			if !ok {
				average.Notes = append(average.Notes, fmt.Sprintf("%s: no average of %s: a task has no finished run.", name, block.Variant))
				continue
			}
			if blocks[block.Variant] == nil {
				blocks[block.Variant] = &summary.Block{Variant: block.Variant}
			}
			blocks[block.Variant].Groups = append(blocks[block.Variant].Groups, summary.Group{Task: name, Rows: group.Rows})
		}
	}
	for _, variant := range []string{config.Full, config.Subsampled} {
		if block := blocks[variant]; block != nil {
			average.Blocks = append(average.Blocks, *block)
		}
	}
	return average
}

// ablation returns the table of the averages over tasks of those methods of DANN's and
// CDAN's families that have no weights, or weights from that source: the paper's
// ablations.
func ablation(weights config.WeightSource) func(summary.Selection) sheet.Sheet {
	return func(s summary.Selection) sheet.Sheet {
		return accuracySheet(ablate(summary.CompareAccuracies(s), weights), "task")
	}
}

func ablate(a summary.Accuracies, weights config.WeightSource) summary.Accuracies {
	ablated := a
	ablated.Title = fmt.Sprintf("%s: %s weights in one loss or both", a.Title, map[config.WeightSource]string{
		config.EstimatedWeights: "estimated", config.OracleWeights: "true",
	}[weights])
	ablated.Blocks = nil
	ablated.Notes = slices.Clone(a.Notes)
	for _, block := range a.Blocks {
		group, ok := a.Average(block)
		if !ok {
			ablated.Notes = append(ablated.Notes, fmt.Sprintf("No average of %s: a task has no finished run.", block.Variant))
			continue
		}
		var rows []summary.Row
		for _, row := range group.Rows {
			method, _ := config.ParseMethod(row.Method)
			if method.Alignment.Properties().Ablated && (method.Weights == config.NoWeights || method.Weights == weights) {
				rows = append(rows, row)
			}
		}
		slices.SortStableFunc(rows, func(a, b summary.Row) int { return ablationRank(a.Method) - ablationRank(b.Method) })
		if len(rows) > 0 {
			ablated.Blocks = append(ablated.Blocks, summary.Block{
				Variant: block.Variant, Groups: []summary.Group{{Task: group.Task, Rows: rows}},
			})
		}
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

// hasAblation reports whether a method puts weights in one of the losses alone.
func hasAblation(experiment config.Config) bool {
	return slices.ContainsFunc(experiment.Methods, func(name string) bool {
		method, _ := config.ParseMethod(name)
		return method.WeightClassification != method.WeightDomain
	})
}
