package table

import (
	"fmt"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

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
