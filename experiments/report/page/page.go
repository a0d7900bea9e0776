// Package page writes everything about an experiment into one HTML file that needs
// nothing else: summary, tables, figures, every run, what failed and why.
package page

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/report/figure"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/table"
	"iwda/experiments/store"
)

// Content is what a page shows.
type Content struct {
	Config config.Config
	plan.Found
	// Lead is what the page begins with, header and sections, if it is about what came of the
	// runs. All that is known of the runs is folded away after it.
	Lead template.HTML
}

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

// Write writes the page. The same content gives the same bytes. What cannot be read
// is said on the page.
func Write(w io.Writer, content Content) error {
	v := view{
		Title: cmp.Or(content.Config.Title, content.Config.Experiment), Experiment: content.Config.Experiment,
		Styles: template.CSS(styles), Script: template.JS(script),
		Lead: content.Lead, Notes: content.Notes, Planned: len(content.Planned), Problems: content.Problems,
	}
	finished := map[string]bool{}
	for _, run := range content.Runs {
		finished[run.Result.ID] = true
		v.Runs = append(v.Runs, newRunRow(run))
		v.Measured = v.Measured || run.Result.BestAccuracy.Measured
		v.WithoutLabels = v.WithoutLabels || run.Result.WithoutLabels != nil
	}
	v.Finished = len(finished)
	v.Sheets = table.All(content.Runs, content.Config)
	if err := v.addFigures(content); err != nil {
		return err
	}
	for _, problem := range content.Problems {
		if problem.Kind == store.Failed {
			v.Failed++
		}
	}
	for _, run := range content.Planned {
		if !finished[run.ID.String()] {
			v.Missing = append(v.Missing, run.ID.String())
		}
	}
	return page.Execute(w, v)
}

// WriteAlone writes a page in the same style that shows a body, with its element main, and no runs.
func WriteAlone(w io.Writer, title string, body template.HTML) error {
	return page.Execute(w, view{Title: title, Styles: template.CSS(styles), Script: template.JS(script), Alone: body})
}

// view is what the template shows.
type view struct {
	Title, Experiment         string
	Alone                     template.HTML // instead of all else
	Lead                      template.HTML
	Styles                    template.CSS
	Script                    template.JS
	Planned, Finished, Failed int
	Notes                     []string
	Sheets                    []sheet.Sheet // the first sums up
	Figures                   []drawing
	Runs                      []runRow
	Measured, WithoutLabels   bool // the table of runs shows accuracies, and what needs no labels
	Problems                  []store.Problem
	Missing                   []string
}

// drawing is a figure in the page.
type drawing struct {
	Title string
	SVG   template.HTML
}

// addFigures draws the figures. Curves that cannot be read become notes.
func (v *view) addFigures(content Content) error {
	figures, unreadable := figure.All(content.Runs, content.Config)
	if unreadable != nil {
		v.Notes = append(v.Notes, strings.Split("Left out of the figures: "+unreadable.Error(), "\n")...)
	}
	for _, f := range figures {
		var svg bytes.Buffer
		if err := f.Write(&svg, figure.SVG); err != nil {
			return err
		}
		start := bytes.Index(svg.Bytes(), []byte("<svg"))
		if start < 0 {
			return errors.New("page: a figure is no SVG")
		}
		v.Figures = append(v.Figures, drawing{f.Title, template.HTML(svg.Bytes()[start:])})
	}
	return nil
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
