package adapt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"iwda/datasets"
	"iwda/experiments/config"
)

// Columns is what was seen of columns of features that harms where these are standardised.
type Columns struct {
	// LeftOut are those that never change in one domain and do in the other; see
	// [datasets.LeaveOut].
	LeftOut        []int
	Source, Target Oddities
	names          []string // nil where they have none
}

// Oddities are what was seen of one domain.
type Oddities struct {
	// Dominated is the number of columns in which one row holds most of the variance, and Row
	// the row that does so most often.
	Dominated, Row int
	Marks          []datasets.Mark // that may stand for missing values
}

func lookAtColumns(source, target datasets.Set) (c Columns) {
	if named, is := source.(datasets.Named); is {
		c.names = named.Columns()
	}
	ofSource, ofTarget := datasets.StatisticsOf(source), datasets.StatisticsOf(target)
	c.Source, c.Target = oddities(source, ofSource), oddities(target, ofTarget)
	c.LeftOut = datasets.LeaveOut(&ofSource, &ofTarget)
	return c
}

func oddities(set datasets.Set, s datasets.Statistics) Oddities {
	o := Oddities{Marks: datasets.Marks(set)}
	rows := make(map[int]int)
	for _, row := range datasets.Dominating(set, s) {
		if row >= 0 {
			o.Dominated++
			rows[row]++
		}
	}
	for row, n := range rows {
		if most := rows[o.Row]; n > most || n == most && row < o.Row {
			o.Row = row
		}
	}
	return o
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
	c := d.Columns
	var warnings []string
	if n := len(c.LeftOut); n > 0 {
		const shown = 10
		var names []string
		for _, j := range c.LeftOut[:min(shown, n)] {
			names = append(names, c.name(j))
		}
		if n > shown {
			names = append(names, fmt.Sprintf("%d more", n-shown))
		}
		warnings = append(warnings, fmt.Sprintf("%d of %d columns are left out, as they never change in one of the domains: %s. Are they measured alike in both?",
			n, d.Width, strings.Join(names, ", ")))
	}
	warnings = append(warnings, c.warnings(sourceName, c.Source, d.Width)...)
	return append(warnings, c.warnings(targetName, c.Target, d.Width)...)
}

func (c Columns) warnings(domain string, of Oddities, width int) (warnings []string) {
	// A column of which one row alone is not zero is dominated, too.
	const worthTelling = 0.1
	if n := of.Dominated; n > 0 && float64(n) >= worthTelling*float64(width) {
		warnings = append(warnings, fmt.Sprintf("%d of %d columns of the %s have more than half of their variance in one row, most often row %d (from 0): beside it all others look alike. "+
			"Leave the row out where it is an error; where values have long tails, take their logarithms.", n, width, domain, of.Row))
	}
	if n := len(of.Marks); n > 0 {
		first := of.Marks[0]
		warnings = append(warnings, fmt.Sprintf("%d of %d columns of the %s have a value far from all others in several rows, as %v in %d rows of column %s. "+
			"If it stands for missing values, put their column's mean there.", n, width, domain, first.Value, first.Rows, c.name(first.Column)))
	}
	return warnings
}
