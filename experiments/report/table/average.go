package table

import (
	"fmt"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

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
