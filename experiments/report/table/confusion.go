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
	for _, c := range summary.Confusions(s) {
		from := fmt.Sprintf("%d/%d seeds", c.Seeds, len(s.Experiment.Seeds))
		if c.Paper {
			from = "one run"
		}
		title := fmt.Sprintf("%s, %s, %s: accuracy %.2f, %s", c.Variant, c.Task, c.Name(), c.Accuracy, from)
		columns := []sheet.Column[int]{{Head: "class", Key: true, Value: func(y int) sheet.Value { return sheet.Word(c.Classes[y]) }}}
		var classes []int
		for predicted, name := range c.Classes {
			classes = append(classes, predicted)
			columns = append(columns, sheet.Column[int]{
				Head: name, Format: sheet.Printf("%.2f"), Value: func(y int) sheet.Value { return sheet.Percent(c.Percent[y][predicted]) },
			})
		}
		built.Sections = append(built.Sections, sheet.NewSection(title, columns, classes))
		for y := range c.Classes {
			for predicted := range c.Classes {
				cells = append(cells, confusionCell{c, y, predicted})
			}
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

var confusionColumns = []sheet.Column[confusionCell]{
	{Name: "variant", Value: func(c confusionCell) sheet.Value { return sheet.Word(c.Variant) }},
	{Name: "task", Value: func(c confusionCell) sheet.Value { return sheet.Word(c.Task) }},
	{Name: "method", Value: func(c confusionCell) sheet.Value { return sheet.Word(c.Method) }},
	{Name: "of", Value: func(c confusionCell) sheet.Value {
		if c.Paper {
			return sheet.Word("paper")
		}
		return sheet.Word("run")
	}},
	{Name: "seeds", Value: func(c confusionCell) sheet.Value { return sheet.Count(c.Seeds) }},
	{Name: "class", Value: func(c confusionCell) sheet.Value { return sheet.Word(c.Classes[c.class]) }},
	{Name: "predicted", Value: func(c confusionCell) sheet.Value { return sheet.Word(c.Classes[c.predicted]) }},
	{Name: "percent", Value: func(c confusionCell) sheet.Value { return sheet.Percent(c.Percent[c.class][c.predicted]) }},
}
