package adapt

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labels"
	"iwda/experiments/report/chart"
	"iwda/experiments/report/page"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

//go:embed report.html
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"percent":  func(share any) string { return fmt.Sprintf("%.1f%%", 100*valueOf(share)) },
	"number":   func(share any) string { return fmt.Sprintf("%.1f", 100*valueOf(share)) },
	"fixed":    func(value any) string { return fmt.Sprintf("%.4f", valueOf(value)) },
	"count":    printable.Count,
	"key":      chart.Key,
	"sentence": printable.Sentence,
}).Parse(reportText))

// valueOf is a number, or the one that is pointed to.
func valueOf(number any) float64 {
	if p, is := number.(*float64); is {
		return *p
	}
	return number.(float64)
}

// report writes the page about what came of the adaptation.
func (o conclusion) report(p *Plan, wrote written, outcome *Outcome) error {
	return wholefile.Write(p.path(names.Report), func(w io.Writer) error { return o.writeReport(w, p, wrote, outcome) })
}

func (o conclusion) writeReport(w io.Writer, p *Plan, wrote written, outcome *Outcome) error {
	var lead bytes.Buffer
	if err := reportTemplate.Execute(&lead, o.view(p, wrote, outcome)); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return page.Write(w, cmp.Or(p.file.Config.Title, p.file.Config.Experiment), "<main>\n"+template.HTML(lead.String())+"\n</main>")
}

// reportView is what the report shows beside the outcome.
type reportView struct {
	Outcome              *Outcome
	Title, Labels        string
	Method               string
	ShareKey             []keyEntry
	Classes, MoreClasses []classRow
	Confusion            [][]cell // nil of many classes
	Confused             []confused
	ToLabel, Command     string
	Drawn                int          // rows to label
	First                []labels.Row // of these
}

// keyEntry says what a class of the style sheet stands for.
type keyEntry struct{ Class, Text string }

type classRow struct {
	ClassOutcome
	Bars template.HTML
}

// Bounds of what is shown.
const (
	mostClassRows = 30 // before the others are folded away
	mostConfusion = 20 // classes of a whole table
	mostConfused  = 20 // pairs of classes
	firstRows     = 5
)

func (o conclusion) view(p *Plan, wrote written, outcome *Outcome) reportView {
	v := reportView{
		Outcome: outcome, Title: cmp.Or(p.file.Config.Title, p.file.Config.Experiment),
		Labels:   "No target label was used.",
		ShareKey: []keyEntry{{"fill source", "source"}, {"fill target", "target, estimated"}, {"fill predicted", "predictions"}},
		Method:   strings.ReplaceAll(outcome.Method, "+", " + "),
	}
	if m := wrote.measured; m != nil {
		v.Labels = fmt.Sprintf("The target's %s served only to measure the accuracy.", printable.Count(m.Labels, "label"))
	}
	if o.labels != nil {
		v.Labels = fmt.Sprintf("%d target labels served only to choose the method.", o.labels.Labels)
	}
	if outcome.SharesRejected != "" {
		v.ShareKey[1] = keyEntry{"fill rejected", "target, mean of the probabilities: no estimate holds"}
	}
	v.Classes, v.MoreClasses = classRows(outcome.Classes)
	o.heldOut.show(&v)
	if p.options.LabelRows >= 0 {
		v.ToLabel = cmp.Or(wrote.kept, fmt.Sprintf("Write the classes of these rows, or of the first %d or more, into the column label of %s. Then run:", tellingLabels, names.ToLabel))
		v.Command = printable.Command("iwrun", "evaluate", p.options.Folder, p.path(names.ToLabel))
	}
	v.Drawn, v.First = len(wrote.drawn), wrote.drawn[:min(firstRows, len(wrote.drawn))]
	return v
}

// classRows are the classes with their bars, and those to fold away if they are many, which are then
// sorted by their shares.
func classRows(classes []ClassOutcome) (rows, more []classRow) {
	shares := func(c ClassOutcome) chart.Shares {
		s := chart.Shares{Source: c.SourceShare, Target: c.TargetShare, Predicted: c.PredictedShare, Rejected: c.ShareRejected}
		if c.ShareRejected {
			s.Target = c.MeanProbability
		}
		if i := c.TargetInterval; i != nil {
			s.Interval = &[2]float64{i.Low, i.High}
		}
		return s
	}
	most := 0.0
	for _, c := range classes {
		most = max(most, shares(c).Most())
	}
	for _, c := range classes {
		rows = append(rows, classRow{c, shares(c).Bars(most)})
	}
	if len(rows) <= mostClassRows {
		return rows, nil
	}
	slices.SortStableFunc(rows, func(a, b classRow) int { return cmp.Compare(b.TargetShare, a.TargetShare) })
	return rows[:mostClassRows], rows[mostClassRows:]
}
