// Package page writes HTML pages of one file that needs nothing else, all in one style, and the table of an
// experiment's runs on them: every finished run, what failed and why.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"iwda/experiments/plan"
	"iwda/experiments/report/sheet"
	"iwda/experiments/status"
	"iwda/experiments/store"
)

//go:embed page.html
var layout string

//go:embed page.css
var styles string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"measured":  measured,
	"mebibytes": func(bytes int64) int64 { return bytes >> 20 },
}).Parse(layout))

// Write writes a page of a title that shows a body. The same body gives the same bytes.
func Write(w io.Writer, title string, body template.HTML) error {
	return page.Execute(w, struct {
		Title  string
		Styles template.CSS
		Script template.JS
		Body   template.HTML
	}{title, template.CSS(styles), template.JS(script), body})
}

// Runs are what there is of an experiment of that name, whose folders lie below results, as a section of a page,
// folded away.
func Runs(experiment, results string, found plan.Found) (template.HTML, error) {
	v := view{Experiment: experiment, Notes: found.Notes, Planned: len(found.Planned)}
	finished := map[string]bool{}
	for _, run := range found.Runs {
		finished[run.Result.ID] = true
		v.Runs = append(v.Runs, newRunRow(run))
		v.Measured = v.Measured || run.Result.BestAccuracy.Measured
		v.WithoutLabels = v.WithoutLabels || run.Result.WithoutLabels != nil
	}
	v.Finished = len(finished)
	for _, run := range status.Inspect(found.Planned, results) {
		if run.State == status.Failed {
			v.Failed++
		}
		if !finished[run.ID] {
			v.Missing = append(v.Missing, run)
		}
	}
	var section bytes.Buffer
	err := page.ExecuteTemplate(&section, "runs", v)
	return template.HTML(section.String()), err
}

// view is what the section of runs shows.
type view struct {
	Experiment                string
	Planned, Finished, Failed int
	Notes                     []string
	Runs                      []runRow
	Measured, WithoutLabels   bool // the table shows accuracies, and what needs no labels
	Missing                   []status.Run
}

// runRow is a finished run in the table of runs.
type runRow struct {
	store.Result
	// SourceAccuracy, on held-out rows, and Certainty, on the target, need none of its labels.
	SourceAccuracy, Certainty store.Optional[float64]
}

func newRunRow(run store.Run) runRow {
	row := runRow{Result: run.Result}
	if u := row.WithoutLabels; u != nil {
		row.Certainty = store.Measured(u.Certainty)
		if u.Validation != nil {
			row.SourceAccuracy = store.Measured(u.Validation.Accuracy)
		}
	}
	return row
}

// measured formats a value times a factor, and what was not measured as a dash.
func measured(format string, factor float64, value interface{ OrNaN() float64 }) string {
	if math.IsNaN(value.OrNaN()) {
		return sheet.None
	}
	return fmt.Sprintf(format, factor*value.OrNaN())
}
