package page

import (
	"fmt"
	"math"

	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
)

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
