package table

import (
	"fmt"

	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// confusion shows the predictions by class, a section a method, the paper's after ours.
func confusion(s summary.Selection) sheet.Sheet {
	built := newSheet(s, "predictions by class")
	built.Unit = "percent"
	built.Legend = "Predictions (columns) for each true class (rows) of the target's test set in percent, at the end of the runs, all seeds together. " +
		"The paper does not say at which epoch it took its own."
	var cells []confusionCell
	for variant, task := range s.NamedTasks() {
		for _, c := range s.Confusions(variant, task) {
			from := fmt.Sprintf("%d/%d seeds", c.Seeds, len(s.Experiment.Seeds))
			if c.Paper {
				from = "one run"
			}
			title := fmt.Sprintf("%s, %s, %s: accuracy %.2f, %s", variant, task, c.Name(), c.Accuracy, from)
			columns := []sheet.Column[classValues]{word("", "class", func(r classValues) string { return r.of })}
			var rows []classValues
			for y, percent := range c.Percent {
				rows = append(rows, classValues{of: c.Classes[y], values: percent})
				for predicted := range c.Classes {
					cells = append(cells, confusionCell{c, y, predicted})
				}
			}
			built.Sections = append(built.Sections, sheet.NewSection(title, append(columns, classColumns(c.Classes)...), rows))
		}
	}
	built.Records = sheet.NewRecords(confusionColumns, cells)
	return built
}

// confusionCell is the predictions of one class for one true class.
type confusionCell struct {
	summary.Confusion
	class, predicted int
}

var confusionColumns = append(placeColumns(func(c confusionCell) place { return place{c.Variant, c.Task, c.Method} }), []sheet.Column[confusionCell]{
	{Name: "of", Value: func(c confusionCell) sheet.Value {
		if c.Paper {
			return sheet.Word("paper")
		}
		return sheet.Word("run")
	}},
	count("seeds", "", func(c confusionCell) int { return c.Seeds }),
	word("class", "", func(c confusionCell) string { return c.Classes[c.class] }),
	word("predicted", "", func(c confusionCell) string { return c.Classes[c.predicted] }),
	percent("percent", "", noFormat, func(c confusionCell) float64 { return c.Percent[c.class][c.predicted] }),
}...)
