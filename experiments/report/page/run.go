package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
)

// runRow is a finished run in the table of runs.
type runRow struct {
	store.Result
	// SourceAccuracy, on held-out rows, and Certainty, on the target, need none of its labels.
	SourceAccuracy, Certainty store.Optional[float64]
	Accuracy, Distance        template.HTML // over the run
	Unreadable                string        // why there are no curves
}

func newRunRow(run store.Run) runRow {
	row := runRow{Result: run.Result}
	if u := row.WithoutLabels; u != nil {
		row.Certainty = store.Measured(u.Certainty)
		if u.Validation != nil {
			row.SourceAccuracy = store.Measured(u.Validation.Accuracy)
		}
	}
	metrics, err := run.Dir.ReadMetrics()
	if err != nil {
		row.Unreadable = err.Error()
		return row
	}
	row.Accuracy = sparkline(metrics, "accuracy", func(m store.Metrics) float64 { return 100 * m.Accuracy.OrNaN() })
	row.Distance = sparkline(metrics, "weight distance", func(m store.Metrics) float64 { return m.WeightDistance })
	return row
}

// measured formats a value times a factor, and what was not measured as a dash.
func measured(format string, factor float64, value interface{ OrNaN() float64 }) string {
	if math.IsNaN(value.OrNaN()) {
		return sheet.None
	}
	return fmt.Sprintf(format, factor*value.OrNaN())
}

// Measures of a sparkline in pixels.
const (
	sparkWidth  = 120
	sparkHeight = 32
	sparkMargin = 3
)

// sparkline draws a quantity over the run, from its lowest to its highest value, which
// its title names.
func sparkline(metrics []store.Metrics, name string, quantity func(store.Metrics) float64) template.HTML {
	var epochs, values []float64
	last := 1
	for _, m := range metrics {
		if value := quantity(m); !math.IsNaN(value) && !math.IsInf(value, 0) {
			epochs, values = append(epochs, float64(m.Epoch)), append(values, value)
		}
		last = max(last, m.Epoch)
	}
	if len(values) == 0 {
		return ""
	}
	low, high := slices.Min(values), slices.Max(values)
	var points []string
	for i, value := range values {
		x := sparkMargin + (sparkWidth-2*sparkMargin)*epochs[i]/float64(last)
		y := sparkHeight / 2.
		if high > low {
			y = sparkHeight - sparkMargin - (sparkHeight-2*sparkMargin)*(value-low)/(high-low)
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return template.HTML(fmt.Sprintf(
		`<svg class="spark" role="img" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d"><title>%s over the run, %.4g to %.4g</title><polyline points="%s"/></svg>`,
		sparkWidth, sparkHeight, name, low, high, strings.Join(points, " ")))
}
