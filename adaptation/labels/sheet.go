package labels

import (
	"fmt"

	"iwda/experiments/report/sheet"
	"iwda/inference/evaluation"
)

// Sheet shows the evaluation to readers.
func (e *Evaluation) Sheet() sheet.Sheet {
	s := sheet.Sheet{
		Title:    "How many predictions are right",
		Sections: []sheet.Section{e.accuracies()},
		Legend: fmt.Sprintf("%d of %d rows have a label. accuracy: estimated for all rows, in percent, with a 95%% interval. It is prediction-powered if at least ten labelled rows are right and ten are wrong; otherwise it uses these rows alone. "+
			"difference: accuracy of the method minus that of the predictions, in points, with a 95%% interval. gained, lost: labelled rows on which only the method is right, and on which only the predictions are. p: p-value of the test that both are equally accurate.", e.Labels, e.Rows),
		Notes: e.Notes,
	}
	if len(e.Methods) > 1 {
		s.Legend += fmt.Sprintf(" The intervals of the %d methods hold together, in 95%% of draws: also that of the method which looks best.", len(e.Methods))
	}
	if len(e.Shares) > 0 {
		s.Sections = append(s.Sections, e.shareSection())
		s.Legend += " share: of all rows that are of the class, in percent, by the labels and the predictions, with a 95% interval."
	}
	if len(e.Recalls) > 0 {
		s.Sections = append(s.Sections, e.recalls())
		s.Legend += fmt.Sprintf(" recall: share of a class's rows that are predicted as this class, in percent, with a 95%% interval; missing for fewer than %d labels.", fewestOfClass)
	}
	return s
}

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
		{Head: "difference", Format: points, Value: beside(func(d evaluation.Difference) sheet.Value { return percent(&d.Estimate) })},
	}
	if len(e.Methods) == 0 {
		columns = columns[:3]
	} else {
		columns = append(columns,
			sheet.Column[line]{Head: "gained, lost", Value: beside(func(d evaluation.Difference) sheet.Value { return sheet.Word(fmt.Sprintf("%d, %d", d.Gained, d.Lost)) })},
			sheet.Column[line]{Head: "p", Format: sheet.Printf("%.2g"), Value: beside(func(d evaluation.Difference) sheet.Value { return sheet.Number(d.P) })})
	}
	return sheet.NewSection("Accuracy on the target in percent", columns, lines)
}

func (e *Evaluation) shareSection() sheet.Section {
	return sheet.NewSection("Class shares of the target in percent", []sheet.Column[ClassShare]{
		{Head: "class", Key: true, Value: func(c ClassShare) sheet.Value { return sheet.Word(c.Class) }},
		{Head: "labels", Value: func(c ClassShare) sheet.Value { return sheet.Count(c.Labels) }},
		{Head: "predicted", Format: sheet.Printf("%.1f"), Value: func(c ClassShare) sheet.Value { return sheet.Percent(100 * c.Predicted) }},
		{Head: "share", Format: percents, Value: func(c ClassShare) sheet.Value { return percent(&c.Share) }},
	}, e.Shares)
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
