package table

import (
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// Columns have a name for programs and a head for readers, of which one may be empty. Words
// that readers see name their row.

func word[R any](name, head string, of func(R) string) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Key: head != "", Value: func(r R) sheet.Value { return sheet.Word(of(r)) }}
}

func count[R any](name, head string, of func(R) int) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Value: func(r R) sheet.Value { return sheet.Count(of(r)) }}
}

func number[R any](name, head string, format sheet.Format, of func(R) float64) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Format: format, Value: func(r R) sheet.Value { return sheet.Number(of(r)) }}
}

func percent[R any](name, head string, format sheet.Format, of func(R) float64) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Format: format, Value: func(r R) sheet.Value { return sheet.Percent(of(r)) }}
}

// scored is the mean of a score with its standard deviation.
func scored[R any](name, head string, of func(R) summary.Score) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Format: scoreFormat, Value: func(r R) sheet.Value { return sheet.Percent(of(r).Mean, of(r).Deviation) }}
}

// share is a number of a whole, which is not there where the whole is 0.
func share[R any](head string, of func(R) (part, whole int)) sheet.Column[R] {
	return sheet.Column[R]{Head: head, Format: sheet.Printf("%.0f", "/%.0f"), Value: func(r R) sheet.Value {
		part, whole := of(r)
		if whole == 0 {
			return sheet.Value{}
		}
		return sheet.Number(float64(part), float64(whole))
	}}
}

// The formats of numbers; programs need none.
var (
	noFormat          sheet.Format
	pointsFormat      = sheet.Printf("%.2f")
	correlationFormat = sheet.Printf("%+.2f")
	scoreFormat       = sheet.Printf("%.2f", " ± %.2f")
)

// place is where runs belong that differ only in their seed.
type place struct{ variant, task, method string }

// placeColumns are those of the records of something at a place.
func placeColumns[R any](of func(R) place) []sheet.Column[R] {
	return []sheet.Column[R]{
		word("variant", "", func(r R) string { return of(r).variant }),
		word("task", "", func(r R) string { return of(r).task }),
		word("method", "", func(r R) string { return of(r).method }),
	}
}
