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

// classColumns are the columns of the classes for readers.
func classColumns(classes []string) []sheet.Column[classValues] {
	var columns []sheet.Column[classValues]
	for c, class := range classes {
		columns = append(columns, number("", class, pointsFormat, func(r classValues) float64 { return r.values[c] }))
	}
	return columns
}

// classValue is the number of one class.
type classValue struct {
	classValues
	class string
	value float64
}

// weightRecords are records of the weight of one class each.
func weightRecords(rows []classValues) sheet.Records {
	columns := append(placeColumns(func(v classValue) place { return v.place }), []sheet.Column[classValue]{
		word("of", "", func(v classValue) string { return v.of }),
		word("class", "", func(v classValue) string { return v.class }),
		number("weight", "", noFormat, func(v classValue) float64 { return v.value }),
		number("distance", "", noFormat, func(v classValue) float64 { return v.distance.Mean }),
		count("seeds", "", func(v classValue) int { return v.seeds }),
	}...)
	var all []classValue
	for _, r := range rows {
		for c, value := range r.values {
			all = append(all, classValue{r, r.classes[c], value})
		}
	}
	return sheet.NewRecords(columns, all)
}
