package watch

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/experiments/report/sheet"
	"iwda/inference/monitor"
	"iwda/internal/convert"
	"iwda/internal/heading"
	"iwda/weightest/shifttest"
)

// compared is a class in two states.
type compared struct {
	class         string
	a, b, between monitor.Interval
}

// Compare is a table of the class shares of two states of the same classes and of their differences, second
// minus first, whose intervals hold for all classes at once with probability level.
func Compare(nameA, nameB string, a, b *State, level float64) (sheet.Sheet, error) {
	if !slices.Equal(a.Reference.Classes, b.Reference.Classes) {
		return sheet.Sheet{}, fmt.Errorf("%s has the classes %.200q, and %s %.200q; only states of the same classes can be compared", nameA, a.Reference.Classes, nameB, b.Reference.Classes)
	}
	var estimates []*monitor.Estimate
	for i, s := range []*State{a, b} {
		sums := make([]float64, len(s.Reference.Classes)*shifttest.PerClass)
		for _, batch := range s.Batches {
			floats.Add(sums, convert.Slice[float64](batch.Bins))
		}
		e, err := s.Reference.Counts.Of(sums)
		if err != nil {
			return sheet.Sheet{}, fmt.Errorf("%s: %w", []string{nameA, nameB}[i], err)
		}
		estimates = append(estimates, e)
	}
	one := a.Reference.SHA256 == b.Reference.SHA256
	of, with, between := estimates[0].Shares(level), estimates[1].Shares(level), estimates[1].Differences(estimates[0], one, level)
	var rows []compared
	for class, name := range a.Reference.Classes {
		rows = append(rows, compared{name, of[class], with[class], between[class]})
	}
	number := func(name, head string, format sheet.Format, of func(compared) float64) sheet.Column[compared] {
		return sheet.Column[compared]{Name: name, Head: head, Format: format, Value: func(c compared) sheet.Value { return sheet.Number(of(c)) }}
	}
	columns := []sheet.Column[compared]{
		{Name: heading.Class, Head: "class", Key: true, Value: func(c compared) sheet.Value { return sheet.Word(c.class) }},
		number("first_share", nameA, sheet.Printf("%.4f"), func(c compared) float64 { return c.a.Value }),
		number("second_share", nameB, sheet.Printf("%.4f"), func(c compared) float64 { return c.b.Value }),
		number("difference", "difference", sheet.Printf("%+.4f"), func(c compared) float64 { return c.between.Value }),
		{Head: "interval", Format: sheet.Printf("%+.4f", " to %+.4f"), Value: func(c compared) sheet.Value { return sheet.Number(c.between.Low, c.between.High) }},
	}
	s := sheet.Sheet{
		Experiment: "watch", Title: fmt.Sprintf("Class shares of %s and %s", nameA, nameB),
		Sections: []sheet.Section{sheet.NewSection("Second minus first", columns, rows)}, Records: sheet.NewRecords(columns, rows),
		Legend: fmt.Sprintf("The intervals contain the differences of all classes at once with probability %v, if class shares are all that changes.", level),
	}
	if one {
		s.Notes = append(s.Notes, "Both were begun with the same held-out rows, whose chance counts once.")
	}
	return s, nil
}
