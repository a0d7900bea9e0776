package report

import (
	"math"

	"iwda/experiments/paper"
	"iwda/experiments/report/sheet"
)

// gains sums up the gains over the variations of each task, beside the paper's.
func gains(s Selection) sheet.Sheet {
	all := Gains(s)
	built := newSheet(s, "gain over the method without weights")
	built.Unit = "percent"
	built.Legend = "Mean gain of accuracy in points, over variations of the task by the shares of the classes that one domain keeps. " +
		"best and last: of the best and the last epoch; won: finished variations on which the method's best epoch has a larger accuracy than its base's, ties: on which it has the same. " +
		"tasks: finished and planned variations."
	if s.Published() != "" {
		built.Legend += " paper: the paper's mean gain, on 100 variations; Δ: best minus paper."
	}
	columns := gainColumns(s)
	for _, task := range s.Experiment.Tasks {
		var rows []Gain
		for _, g := range all {
			if g.Task == task {
				rows = append(rows, g)
			}
		}
		if len(rows) > 0 {
			built.Sections = append(built.Sections, sheet.NewSection(task, columns, rows))
		}
	}
	var points []variation
	for _, g := range all {
		for _, p := range g.Points {
			points = append(points, variation{g, p})
		}
	}
	built.Records = sheet.NewRecords(gainPointColumns, points)
	return built
}

// gainColumns are those of a method on a task.
func gainColumns(s Selection) []sheet.Column[Gain] {
	inPaper := func(head string) string { // nothing beside data that the paper does not have
		if s.Published() == "" {
			return ""
		}
		return head
	}
	printed := func(g Gain) paper.Gain {
		printed, ok := paper.Gains(s.Published(), g.Task, g.Method)
		if !ok {
			printed.Mean = math.NaN()
		}
		return printed
	}
	points, shares := sheet.Printf("%+.2f"), sheet.Printf("%.0f%%")
	return []sheet.Column[Gain]{
		word("", "method", func(g Gain) string { return g.Method }),
		word("", "base", func(g Gain) string { return g.Base }),
		percent("", "best", points, func(g Gain) float64 { return g.Mean(Best) }),
		percent("", "last", points, func(g Gain) float64 { return g.Mean(Last) }),
		percent("", "won", shares, func(g Gain) float64 { return compared(g, 1) }),
		percent("", "ties", shares, func(g Gain) float64 { return compared(g, 0) }),
		percent("", inPaper("paper"), points, func(g Gain) float64 { return printed(g).Mean }),
		percent("", inPaper("Δ"), points, func(g Gain) float64 { return g.Mean(Best) - printed(g).Mean }),
		{Head: inPaper("won (paper)"), Format: shares, Value: func(g Gain) sheet.Value {
			if won := printed(g).TasksWon; won != nil {
				return sheet.Percent(*won)
			}
			return sheet.Value{}
		}},
		share("tasks", func(g Gain) (int, int) { return len(g.Points), g.Planned }),
	}
}

// compared is the share of the finished variations, in percent, in which the best epochs compare so.
func compared(g Gain, result int) float64 {
	n := 0
	for _, p := range g.Points {
		n += oneIf(p.Compared[Best] == result)
	}
	return Percentage(n, len(g.Points))
}

// variation is a variation with the method that it is of.
type variation struct {
	gain Gain
	GainPoint
}

var gainPointColumns = append(placeColumns(func(p variation) place { return place{p.Variant, p.gain.Task, p.gain.Method} }), []sheet.Column[variation]{
	word("base", "", func(p variation) string { return p.gain.Base }),
	number("jsd", "", noFormat, func(p variation) float64 { return p.JSD }),
	count("seeds", "", func(p variation) int { return p.Seeds }),
	percent("best", "", noFormat, func(p variation) float64 { return p.Accuracy[Best] }),
	percent("last", "", noFormat, func(p variation) float64 { return p.Accuracy[Last] }),
	percent("base_best", "", noFormat, func(p variation) float64 { return p.Base[Best] }),
	percent("base_last", "", noFormat, func(p variation) float64 { return p.Base[Last] }),
	count("best_won", "", func(p variation) int { return oneIf(p.Compared[Best] == 1) }),
	count("last_won", "", func(p variation) int { return oneIf(p.Compared[Last] == 1) }),
	count("best_tied", "", func(p variation) int { return oneIf(p.Compared[Best] == 0) }),
	count("last_tied", "", func(p variation) int { return oneIf(p.Compared[Last] == 0) }),
}...)
