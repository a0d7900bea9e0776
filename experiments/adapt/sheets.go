package adapt

import (
	"fmt"

	"iwda/experiments/judge"
	"iwda/experiments/report/sheet"
)

// Sheets are what a report shows of the outcome: the runs as they were judged, and the
// classes.
func (o conclusion) Sheets() []sheet.Sheet { return []sheet.Sheet{o.runsSheet(), o.classesSheet()} }

var (
	percentFormat = sheet.Printf("%.2f")
	numberFormat  = sheet.Printf("%.4f")
)

func (o conclusion) runsSheet() sheet.Sheet {
	columns := []sheet.Column[judge.Judgement]{
		{Head: "run", Key: true, Value: func(j judge.Judgement) sheet.Value { return sheet.Word(j.Run) }},
		{Head: o.Rule, Format: numberFormat, Value: func(j judge.Judgement) sheet.Value { return sheet.Number(j.Value) }},
		{Head: "source accuracy", Format: percentFormat, Value: func(j judge.Judgement) sheet.Value { return sheet.Percent(100 * j.SourceAccuracy) }},
		{Head: "certainty", Format: percentFormat, Value: func(j judge.Judgement) sheet.Value { return sheet.Percent(100 * j.Certainty) }},
		{Head: "unexplained", Format: percentFormat, Value: func(j judge.Judgement) sheet.Value { return sheet.Percent(100 * j.Unexplained) }},
		{Head: "divergence", Format: numberFormat, Value: func(j judge.Judgement) sheet.Value { return sheet.Number(j.Divergence) }},
		{Head: "agreement", Format: percentFormat, Value: func(j judge.Judgement) sheet.Value { return sheet.Percent(100 * j.Agreement) }},
	}
	title := "The chosen run"
	if o.AllSeeds {
		title = "The chosen method"
	}
	labels := "No label of the target was used."
	if o.labels != nil {
		labels = fmt.Sprintf("%d labels of the target chose the method, and served nothing else.", o.labels.Labels)
	}
	return sheet.Sheet{
		Title:    title,
		Sections: []sheet.Section{sheet.NewSection("Chosen among all runs: "+o.Chosen().Name(), columns, o.Judged), o.methodsSection()},
		Legend: fmt.Sprintf("%s %s: the rule, whose %s value is chosen; it fails: %s. source accuracy: on held-out rows, percent. "+
			"certainty: mean largest probability on the target, percent. unexplained: share of the target's predictions that no mixture of the source's classes explains, percent; chance alone makes it some 20 where 15 held-out rows of a class are there, and 45 where 4 are. divergence: of the predicted class shares from the estimated ones, in nats. "+
			"agreement: share of target rows on which the run predicts what all runs together do, percent.", labels, o.Rule, o.Better, o.Fails),
		Notes: append(o.Why(), o.Problems...),
	}
}

func (o conclusion) classesSheet() sheet.Sheet {
	columns := []sheet.Column[ClassOutcome]{
		{Head: "class", Key: true, Value: func(c ClassOutcome) sheet.Value { return sheet.Word(c.Class) }},
		{Head: "source share", Format: percentFormat, Value: func(c ClassOutcome) sheet.Value { return sheet.Percent(100 * c.SourceShare) }},
		{Head: "estimated in the target", Format: percentFormat, Value: func(c ClassOutcome) sheet.Value { return sheet.Percent(100 * c.TargetShare) }},
		{Head: "95% interval", Format: sheet.Printf("%.2f", "–%.2f"), Value: func(c ClassOutcome) sheet.Value { return intervalOf(c.TargetInterval, 100) }},
		{Head: "weight", Format: numberFormat, Value: func(c ClassOutcome) sheet.Value { return sheet.Number(c.Weight) }},
		{Head: "95% interval", Format: sheet.Printf("%.3f", "–%.3f"), Value: func(c ClassOutcome) sheet.Value { return intervalOf((*TargetInterval)(c.WeightInterval), 1) }},
		{Head: "predicted", Format: percentFormat, Value: func(c ClassOutcome) sheet.Value { return sheet.Percent(100 * c.PredictedShare) }},
		{Head: "by source-only", Format: percentFormat, Value: func(c ClassOutcome) sheet.Value { return sheet.Percent(100 * c.ReferenceShare) }},
	}
	return sheet.Sheet{
		Title:    "Class shares",
		Sections: []sheet.Section{sheet.NewSection("Class shares in percent", columns, o.Classes)},
		Legend: "estimated in the target: by maximum likelihood, from what the chosen run says of held-out source rows and of the target, whose predictions are corrected for these shares; of several runs the mean. " +
			"95% interval: between percentiles of the estimates when both are drawn again, of several runs the means of these; it knows of chance, not of classes that look different in the target. weight: that over the source's share. " +
			"predicted: share of the target's rows that the predictions give the class. by source-only: the estimate of " + o.Shared.Run + ", from which the rule's weights come.",
	}
}

// intervalOf are the ends of an interval, in parts of 1 or of 100.
func intervalOf(interval *TargetInterval, of float64) sheet.Value {
	if interval == nil {
		return sheet.Value{} // missing
	}
	return sheet.Number(of*interval.Low, of*interval.High)
}

// methodsSection puts the methods side by side.
func (o conclusion) methodsSection() sheet.Section {
	columns := []sheet.Column[judge.Method]{
		{Head: "method", Key: true, Value: func(m judge.Method) sheet.Value { return sheet.Word(m.Name) }},
		{Head: "seeds", Value: func(m judge.Method) sheet.Value { return sheet.Count(len(m.Runs)) }, Format: sheet.Printf("%.0f")},
		{Head: o.Rule + ", mean", Format: numberFormat, Value: func(m judge.Method) sheet.Value { return sheet.Number(m.Value) }},
		{Head: "changes", Format: percentFormat, Value: func(m judge.Method) sheet.Value {
			_, changed := o.disputes.of(m.Name)
			return sheet.Percent(100 * changed)
		}},
		{Head: "assumes", Value: func(m judge.Method) sheet.Value {
			assumed, _ := o.disputes.of(m.Name)
			return sheet.Word(assumed)
		}},
	}
	return sheet.NewSection("Methods, by the mean of their seeds: what each assumes, and the percentage of predictions that would change by it alone", columns, o.Methods)
}
