package watch

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"iwda/experiments/report/chart"
	"iwda/experiments/report/page"
	"iwda/inference/monitor"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("watch").Funcs(template.FuncMap{
	"key":     chart.Key,
	"percent": func(i *monitor.Interval) string { return percent(*i) },
}).Parse(pageText))

// Numbers of what the page shows.
const (
	shownClasses = 12
	shownBatches = 40
)

type figure struct {
	Name    string
	Drawing template.HTML
}

// WritePage writes the page of all findings, of which there must be one, in one step.
func (s *State) WritePage(path string, findings []Finding, window int) error {
	last := findings[len(findings)-1]
	view := struct {
		Title, Batches, Rows, Forget string
		Last                         Finding
		Accuracy                     bool
		Level, Cover                 float64
		Figures, Evidence            []figure
		Recent                       []Finding
	}{
		Title: "Watched against " + s.Reference.Name, Batches: printable.Count(len(findings), "batch"), Last: last,
		Level: s.Level, Cover: 1 - s.Level,
	}
	if window > 0 {
		view.Forget = fmt.Sprintf(", the last %d of them", window)
	}
	rows := 0
	for _, f := range findings {
		rows += f.Rows
	}
	view.Rows = printable.Count(rows, "row")
	ends := [2]string{findings[0].Time.Format(time.DateOnly), last.Time.Format(time.DateOnly)}
	draw := func(name string, bound float64, of func(Known) *monitor.Interval) {
		var batches, pooled []chart.Point
		most := 1.2 * bound
		for _, f := range findings {
			if i := of(f.Known); i != nil {
				batches = append(batches, chart.Point(*i))
				pooled = append(pooled, chart.Point(*of(f.SoFar)))
				most = max(most, i.High)
			}
		}
		if batches != nil {
			text := fmt.Sprintf("The last is %.1f%%, from %.1f to %.1f%%.", 100*batches[len(batches)-1].Value, 100*batches[len(batches)-1].Low, 100*batches[len(batches)-1].High)
			view.Figures = append(view.Figures, figure{name, chart.Bands(name, text, batches, pooled, bound, chart.Top([]float64{most}), ends, nil)})
		}
	}
	bound := func(class int, kinds ...monitor.Kind) float64 {
		for _, a := range s.alarms {
			if a.Class == class && slices.Contains(kinds, a.Kind) {
				return a.Bound
			}
		}
		return 0
	}
	for class, name := range s.Reference.Classes[:min(shownClasses, len(s.Reference.Classes))] {
		draw(name, bound(class, monitor.ShareAbove, monitor.ShareBelow), func(k Known) *monitor.Interval {
			i := k.Shares[name]
			return &i
		})
	}
	view.Accuracy = findings[0].Accuracy != nil
	draw("accuracy", bound(0, monitor.AccuracyBelow), func(k Known) *monitor.Interval { return k.Accuracy })
	for j, name := range s.Alarms {
		most := 1.2 * last.Alarms[j].Threshold
		var points []chart.Point
		for _, f := range findings {
			v := max(0, f.Alarms[j].Evidence)
			most, points = max(most, v), append(points, chart.Point{Value: v, Low: v, High: v})
		}
		text := fmt.Sprintf("The last is %.2f; the alarm sounds at %.2f.", last.Alarms[j].Evidence, last.Alarms[j].Threshold)
		view.Evidence = append(view.Evidence, figure{name, chart.Bands(name, text, points, nil, last.Alarms[j].Threshold, most, ends, func(share float64) string { return fmt.Sprintf("%.1f", share*most) })})
	}
	view.Recent = slices.Clone(findings[max(0, len(findings)-shownBatches):])
	slices.Reverse(view.Recent)
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, view); err != nil {
		return err
	}
	return wholefile.Write(path, func(w io.Writer) error { return page.Write(w, view.Title, template.HTML(body.String())) })
}
