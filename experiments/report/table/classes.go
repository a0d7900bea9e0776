package table

import (
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// place is where runs belong that differ only in their seed.
type place struct{ variant, task, method string }

// placeColumns are those of the records of something at a place.
func placeColumns[R any](of func(R) place) []sheet.Column[R] {
	return []sheet.Column[R]{
		{Name: "variant", Value: func(r R) sheet.Value { return sheet.Word(of(r).variant) }},
		{Name: "task", Value: func(r R) sheet.Value { return sheet.Word(of(r).task) }},
		{Name: "method", Value: func(r R) sheet.Value { return sheet.Word(of(r).method) }},
	}
}

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
		columns = append(columns, sheet.Column[classValues]{
			Head: class, Format: sheet.Printf("%.2f"), Value: func(r classValues) sheet.Value { return sheet.Number(factor * r.values[c]) },
		})
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
		{Name: of, Value: func(v classValue) sheet.Value { return sheet.Word(v.of) }},
		{Name: "class", Value: func(v classValue) sheet.Value { return sheet.Word(v.class) }},
		{Name: value, Value: func(v classValue) sheet.Value { return sheet.Number(v.value) }},
	}...)
	columns = append(append(columns, others...),
		sheet.Column[classValue]{Name: "seeds", Value: func(v classValue) sheet.Value { return sheet.Count(v.seeds) }})
	var all []classValue
	for _, r := range rows {
		for c, value := range r.values {
			all = append(all, classValue{r, r.classes[c], value})
		}
	}
	return sheet.NewRecords(columns, all)
}
