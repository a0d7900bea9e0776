package sheet

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"iwda/internal/printable"
)

// Value is what a row has in a column: a word, a count, or numbers, of which the first
// is the value and the others stand beside it in print. The zero Value says that there
// is none, as does a first number that is NaN: nothing was measured, or nothing can be.
// Readers then see a dash, CSV has an empty cell and JSON null.
type Value struct {
	isWord  bool
	text    string // of a word or a count
	numbers []float64
	percent bool
}

// None stands in print for a value that is not there.
const None = "–"

// Word is a name or another text.
func Word(text string) Value { return Value{isWord: true, text: text} }

// Count is a whole number.
func Count(n int) Value { return Value{text: strconv.Itoa(n), numbers: []float64{float64(n)}} }

// Number is a number, in print with others.
func Number(value float64, beside ...float64) Value {
	return Value{numbers: append([]float64{value}, beside...)}
}

// Percent is a number of which records keep six decimals: beyond them lies only the
// error of the arithmetic.
func Percent(value float64, beside ...float64) Value {
	return Value{numbers: append([]float64{value}, beside...), percent: true}
}

// HasNumber reports whether there is a number, by which rows can be sorted.
func (v Value) HasNumber() bool { return len(v.numbers) > 0 && !math.IsNaN(v.numbers[0]) }

// Number returns the number, NaN where there is none.
func (v Value) Number() float64 {
	if !v.HasNumber() {
		return math.NaN()
	}
	return v.numbers[0]
}

// hasText reports whether the value is a word or a count.
func (v Value) hasText() bool { return v.isWord || v.text != "" }

// recorded is the number as records hold it.
func (v Value) recorded() float64 {
	if v.percent {
		return math.Round(1e6*v.Number()) / 1e6
	}
	return v.Number()
}

// MarshalJSON implements json.Marshaler. JSON has no infinite numbers: they are null
// too.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case v.isWord:
		return json.Marshal(v.text)
	case v.hasText():
		return []byte(v.text), nil
	case !v.HasNumber() || math.IsInf(v.Number(), 0):
		return []byte("null"), nil
	}
	return json.Marshal(v.recorded())
}

// csv is the value as CSV holds it.
func (v Value) csv() string {
	if v.hasText() || !v.HasNumber() {
		return printable.Cell(v.text)
	}
	format := byte('f')
	if n := v.recorded(); n != 0 && math.Abs(n) < 1e-6 { // as in JSON
		format = 'e'
	}
	return strconv.FormatFloat(v.recorded(), format, -1, 64)
}

// Format says how numbers are printed for readers; nil is for words and counts.
type Format func(numbers []float64) string

// Printf formats numbers as fmt.Printf does: the value by the first format, and each of
// the numbers beside it, where it is not NaN, by one of the others.
func Printf(value string, beside ...string) Format {
	return func(numbers []float64) string {
		text := None
		if !math.IsNaN(numbers[0]) {
			text = fmt.Sprintf(value, numbers[0])
		}
		for i, number := range numbers[1:] {
			if !math.IsNaN(number) {
				text += fmt.Sprintf(beside[i], number)
			}
		}
		return text
	}
}

// Scientific prints three significant digits as the paper does: 6.64e-3. Zero is 0.
func Scientific(numbers []float64) string {
	value := numbers[0]
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return None
	case value == 0:
		return "0"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(value, 'e', 2, 64), "e")
	power, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%se%d", mantissa, power)
}

// text is the value in plain text.
func (f Format) text(v Value) string {
	switch {
	case v.hasText():
		return v.text
	case len(v.numbers) == 0:
		return None
	case f == nil:
		return fmt.Sprint(v.numbers[0])
	}
	return f(v.numbers)
}
