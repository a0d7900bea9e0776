package report

import (
	"fmt"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/paper"
)

// AverageTable puts the averages over tasks of several experiments side by side, as
// the paper's first table of results: a block a variant, a group a data set. A data
// set with a single task is its own average. Variants without an average yet are
// missing, and a note says so.
func AverageTable(tables []Table) Table {
	average := Table{Experiment: "average", Title: "Average over the tasks of each data set", layout: byDataset}
	blocks := map[string]*Block{}
	seen := map[string]bool{}
	for _, table := range tables {
		name := table.Dataset
		if seen[name] {
			name = table.Experiment
		}
		seen[name] = true
		average.InPaper = average.InPaper || table.InPaper
		for _, note := range table.Notes {
			average.Notes = append(average.Notes, name+": "+note)
		}
		for _, block := range table.Blocks {
			if config.FractionsDomain(block.Variant) != "" {
				average.Notes = append(average.Notes, fmt.Sprintf("%s: %s is no variant of the paper's averages.", name, block.Variant))
				continue
			}
			group, ok := block.average(table.tasks)
			if !ok {
				average.Notes = append(average.Notes, fmt.Sprintf("%s: no average of %s: a task has no finished run.", name, block.Variant))
				continue
			}
			if blocks[block.Variant] == nil {
				blocks[block.Variant] = &Block{Variant: block.Variant}
			}
			blocks[block.Variant].Groups = append(blocks[block.Variant].Groups, Group{name, group.Rows})
		}
	}
	for _, variant := range []string{config.Full, config.Subsampled} {
		if block := blocks[variant]; block != nil {
			average.Blocks = append(average.Blocks, *block)
		}
	}
	return average
}

// average returns the block's group of averages, or the only task's group, and
// whether there is one. tasks is the number of planned tasks.
func (b Block) average(tasks int) (Group, bool) {
	last := b.Groups[len(b.Groups)-1]
	return last, last.Task == paper.Average || tasks == 1
}

// AblationTable returns the averages of the table of those methods of DANN's and
// CDAN's families that have no weights, or weights from that source: the paper's
// ablations.
func AblationTable(table Table, weights config.WeightSource) Table {
	ablation := table
	ablation.layout = byFamily
	ablation.Title = fmt.Sprintf("%s: %s weights in one loss or both", table.Title, map[config.WeightSource]string{
		config.EstimatedWeights: "estimated", config.OracleWeights: "true",
	}[weights])
	ablation.Blocks = nil
	ablation.Notes = slices.Clone(table.Notes)
	for _, block := range table.Blocks {
		group, ok := block.average(table.tasks)
		if !ok {
			ablation.Notes = append(ablation.Notes, fmt.Sprintf("No average of %s: a task has no finished run.", block.Variant))
			continue
		}
		var rows []Row
		for _, row := range group.Rows {
			method, _ := config.ParseMethod(row.Method)
			family := method.Alignment == config.DANN || method.Alignment == config.CDAN
			if family && (method.Weights == config.NoWeights || method.Weights == weights) {
				rows = append(rows, row)
			}
		}
		slices.SortStableFunc(rows, func(a, b Row) int { return ablationRank(a.Method) - ablationRank(b.Method) })
		if len(rows) > 0 {
			ablation.Blocks = append(ablation.Blocks, Block{block.Variant, []Group{{group.Task, rows}}})
		}
	}
	return ablation
}

// ablationRank orders methods as the paper's ablations do: DANN's family first, and
// in a family no weights, weights in the classification loss, in the domain loss, in
// both.
func ablationRank(name string) int {
	method, _ := config.ParseMethod(name)
	return 4*slices.Index(alignments, method.Alignment) + oneIf(method.WeightClassification) + 2*oneIf(method.WeightDomain)
}

// hasAblation reports whether a method puts weights in one of the losses alone.
func hasAblation(experiment config.Config) bool {
	return slices.ContainsFunc(experiment.Methods, func(name string) bool {
		method, _ := config.ParseMethod(name)
		return method.WeightClassification != method.WeightDomain
	})
}
