package table

import (
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// classValues are numbers of a method on a task, one a class: weights, shares, predictions.
type classValues struct {
	place
	of             string // which of those of the method, as "paper" or "estimated"
	classes        []string
	values         []float64
	distance       summary.Score // of weights, to the true ones
	seeds, planned int
}

// classColumns are the columns of the classes for readers, with values times a factor.
func classColumns(classes []string, factor float64) []sheet.Column[classValues] {
	var columns []sheet.Column[classValues]
	for c, class := range classes {
		columns = append(columns, number("", class, pointsFormat, func(r classValues) float64 { return factor * r.values[c] }))
	}
	return columns
}

// classValue is the number of one class.
type classValue struct {
	classValues
	class string
	value float64
}

// classRecords are records of one number each. The columns of and value have these names;
// others follow the latter.
func classRecords(of, value string, rows []classValues, others ...sheet.Column[classValue]) sheet.Records {
	columns := append(placeColumns(func(v classValue) place { return v.place }), []sheet.Column[classValue]{
		word(of, "", func(v classValue) string { return v.of }),
		word("class", "", func(v classValue) string { return v.class }),
		number(value, "", noFormat, func(v classValue) float64 { return v.value }),
	}...)
	columns = append(append(columns, others...),
		count("seeds", "", func(v classValue) int { return v.seeds }))
	var all []classValue
	for _, r := range rows {
		for c, value := range r.values {
			all = append(all, classValue{r, r.classes[c], value})
		}
	}
	return sheet.NewRecords(columns, all)
}
