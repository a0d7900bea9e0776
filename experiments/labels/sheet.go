package labels

import (
	"fmt"

	"iwda/evaluation"
	"iwda/experiments/report/sheet"
)

// Sheet shows the evaluation to readers.
func (e *Evaluation) Sheet() sheet.Sheet {
	s := sheet.Sheet{
		Title:    "How many are right",
		Sections: []sheet.Section{e.accuracies()},
		Legend: fmt.Sprintf("By %d rows with labels of %d. accuracy: of all rows, percent, with an interval of 95%%: prediction-powered where ten of the labelled rows at least are right and ten are wrong, else by these rows alone. "+
			"beside: in how many percent of all rows more than the predictions a method is right, with an interval of 95%%. %s p: of no difference.", e.Labels, e.Rows, alone),
		Notes: e.Notes,
	}
	if e.Strata == 0 {
		s.Legend = fmt.Sprintf("By %d rows with labels, on which methods differ. %s p: of no difference on such rows.", e.Labels, alone)
	}
	if e.Strata > 1 {
		s.Notes = append([]string{fmt.Sprintf("The rows were drawn from %d strata of confidence, and count by how many of all each stands for.", e.Strata)}, s.Notes...)
	}
	if len(e.Recalls) > 0 {
		s.Sections = append(s.Sections, e.recalls())
		s.Legend += fmt.Sprintf(" recall: share of a class's rows that are predicted to be of it, percent; missing for less than %d labels.", fewestOfClass)
	}
	return s
}

const alone = "alone: labelled rows that only the method gets right, and only the predictions."

var (
	percents = sheet.Printf("%.1f", " (%.1f", " to %.1f)")
	points   = sheet.Printf("%+.1f", " (%+.1f", " to %+.1f)")
)

func percent(e *evaluation.Estimate) sheet.Value {
	return sheet.Percent(100*e.Value, 100*e.Low, 100*e.High)
}

func (e *Evaluation) accuracies() sheet.Section {
	type line struct {
		name string
		Accuracy
		*evaluation.Difference
	}
	lines := []line{{"the predictions", e.Predictions, nil}}
	for _, m := range e.Methods {
		l := line{name: m.Method, Accuracy: m.Accuracy}
		if !m.Same {
			l.Difference = &m.Difference
		}
		lines = append(lines, l)
	}
	beside := func(value func(d evaluation.Difference) sheet.Value) func(l line) sheet.Value {
		return func(l line) sheet.Value {
			if l.Difference == nil {
				return sheet.Value{}
			}
			return value(*l.Difference)
		}
	}
	columns := []sheet.Column[line]{
		{Head: "predicted by", Key: true, Value: func(l line) sheet.Value { return sheet.Word(l.name) }},
		{Head: "right", Value: func(l line) sheet.Value { return sheet.Word(fmt.Sprintf("%d of %d", l.Accuracy.Right, e.Labels)) }},
		{Head: "accuracy", Format: percents, Value: func(l line) sheet.Value { return percent(l.Accuracy.Estimate) }},
		{Head: "beside", Format: points, Value: beside(func(d evaluation.Difference) sheet.Value { return percent(d.Estimate) })},
	}
	title := "Accuracy on the target in percent"
	switch {
	case e.Strata == 0:
		columns, title = columns[:2], "Rows on which methods differ"
	case len(e.Methods) == 0:
		columns = columns[:3]
	}
	if len(e.Methods) > 0 {
		columns = append(columns,
			sheet.Column[line]{Head: "alone", Value: beside(func(d evaluation.Difference) sheet.Value { return sheet.Word(fmt.Sprintf("%d, %d", d.Gained, d.Lost)) })},
			sheet.Column[line]{Head: "p", Format: sheet.Printf("%.2g"), Value: beside(func(d evaluation.Difference) sheet.Value { return sheet.Number(d.P) })})
	}
	return sheet.NewSection(title, columns, lines)
}

func (e *Evaluation) recalls() sheet.Section {
	columns := []sheet.Column[Recall]{
		{Head: "class", Key: true, Value: func(r Recall) sheet.Value { return sheet.Word(r.Class) }},
		{Head: "labels", Value: func(r Recall) sheet.Value { return sheet.Count(r.Labels) }},
		{Head: "right", Value: func(r Recall) sheet.Value { return sheet.Count(r.Right) }},
		{Head: "recall", Format: percents, Value: func(r Recall) sheet.Value {
			if r.Recall == nil {
				return sheet.Value{}
			}
			return percent(r.Recall)
		}},
	}
	return sheet.NewSection("Recall in percent", columns, e.Recalls)
}
