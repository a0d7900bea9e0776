package adapt

import (
	"path"

	"iwda/experiments/report/sheet"
)

// Method is what is known of the runs of a method that differ in their seed. The risk of
// what they predict together, the mean of their probabilities, is at most the mean of their
// risks, as cross-entropy is convex. It cannot be measured itself: the rows that one seed
// holds out are those on which another was trained.
type Method struct {
	Name  string
	Seeds int
	Value float64 // of the rule, the mean over seeds; NaN where one could not be judged
}

// Methods returns the methods of the judged runs, in their order.
func (c Choice) Methods() (methods []Method) {
	for _, j := range c.Judged {
		name := methodOf(j.Run)
		if n := len(methods); n == 0 || methods[n-1].Name != name {
			methods = append(methods, Method{Name: name})
		}
		m := &methods[len(methods)-1]
		m.Seeds++
		m.Value += (j.Value - m.Value) / float64(m.Seeds)
	}
	return methods
}

// methodOf returns the method of the run of that id.
func methodOf(id string) string { return path.Base(path.Dir(id)) }

// chosenMethod is that of the chosen run.
func (c Choice) chosenMethod() Method {
	for _, m := range c.Methods() {
		if m.Name == methodOf(c.Judged[c.Best].Run) {
			return m
		}
	}
	return Method{}
}

// methodsSection puts the methods side by side.
func (c Choice) methodsSection() sheet.Section {
	columns := []sheet.Column[Method]{
		{Head: "method", Key: true, Value: func(m Method) sheet.Value { return sheet.Word(m.Name) }},
		{Head: "seeds", Value: func(m Method) sheet.Value { return sheet.Count(m.Seeds) }, Format: sheet.Printf("%.0f")},
		{Head: c.Rule + ", mean", Format: numberFormat, Value: func(m Method) sheet.Value { return sheet.Number(m.Value) }},
	}
	return sheet.NewSection("Methods, by the mean of their seeds", columns, c.Methods())
}
