package adapt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"iwda/datasets"
	"iwda/experiments/config"
)

// Columns is what was seen of columns of features that harms.
type Columns struct {
	names []string // nil where they have none
	// LeftOut are those, by their names or numbers, that never change in one domain and do in
	// the other; see [datasets.LeaveOut].
	LeftOut []string
	// Dominated are the numbers of columns of each domain in which one row holds most of the
	// variance, Row the row that does so most often, and Marks are values that may stand for
	// missing ones.
	Source, Target struct {
		Dominated, Row int
		Marks          []datasets.Mark
	}
}

func (d *Data) lookAtColumns(source, target datasets.Set) {
	if named, is := source.(datasets.Named); is {
		d.Columns.names = named.Columns()
	}
	ofSource, ofTarget := datasets.StatisticsOf(source), datasets.StatisticsOf(target)
	d.Columns.Source.Dominated, d.Columns.Source.Row = dominated(source, ofSource)
	d.Columns.Target.Dominated, d.Columns.Target.Row = dominated(target, ofTarget)
	d.Columns.Source.Marks, d.Columns.Target.Marks = datasets.Marks(source), datasets.Marks(target)
	for _, j := range datasets.LeaveOut(&ofSource, &ofTarget) {
		d.Columns.LeftOut = append(d.Columns.LeftOut, d.Columns.name(j))
	}
}

// dominated returns the number of columns in which one row holds more than half of the
// variance, and the row that does so most often.
func dominated(set datasets.Set, s datasets.Statistics) (columns, row int) {
	rows := make(map[int]int)
	for _, i := range datasets.Dominating(set, s) {
		if i >= 0 {
			columns++
			rows[i]++
		}
	}
	for i, n := range rows {
		if n > rows[row] || n == rows[row] && i < row {
			row = i
		}
	}
	return columns, row
}

// name returns the name of a column, or its number where it has none.
func (c Columns) name(j int) string {
	if c.names != nil {
		return strconv.Quote(c.names[j])
	}
	return strconv.Itoa(j)
}

// Warnings are sentences about what should be known of the data that the experiment is about.
func (d Data) Warnings(experiment *config.Config) []string {
	if !slices.Contains([]string{config.Standardise, config.Match}, experiment.Network.Normalise) {
		return nil
	}
	var warnings []string
	if n := len(d.Columns.LeftOut); n > 0 {
		const shown = 10
		names := strings.Join(d.Columns.LeftOut[:min(shown, n)], ", ")
		if n > shown {
			names += fmt.Sprintf(" and %d more", n-shown)
		}
		warnings = append(warnings, fmt.Sprintf("%d of %d columns are left out, as they never change in one of the domains: %s. Are they measured alike in both?", n, d.Width, names))
	}
	for _, domain := range []struct {
		name           string
		dominated, row int
		marks          []datasets.Mark
	}{
		{sourceName, d.Columns.Source.Dominated, d.Columns.Source.Row, d.Columns.Source.Marks},
		{targetName, d.Columns.Target.Dominated, d.Columns.Target.Row, d.Columns.Target.Marks},
	} {
		// A column of which one row alone is not zero is such a one, too.
		const worthTelling = 0.1
		if domain.dominated > 0 && float64(domain.dominated) >= worthTelling*float64(d.Width) {
			warnings = append(warnings, fmt.Sprintf("%d of %d columns of the %s have more than half of their variance in one row, most often row %d (from 0): beside it all others look alike. "+
				"Leave the row out where it is an error; where values have long tails, take their logarithms.", domain.dominated, d.Width, domain.name, domain.row))
		}
		if n := len(domain.marks); n > 0 {
			first := domain.marks[0]
			warnings = append(warnings, fmt.Sprintf("%d of %d columns of the %s have a value far from all others in several rows, as %v in %d rows of column %s. "+
				"If it stands for missing values, put their column's mean there.", n, d.Width, domain.name, first.Value, first.Rows, d.Columns.name(first.Column)))
		}
	}
	return warnings
}
