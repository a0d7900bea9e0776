// Package sheet prints tables: Markdown for terminals and pages, CSV and JSON for programs.
//
// What a table shows is said by typed columns over the rows of any Go type:
// NewSection makes of them what readers see, NewRecords what programs get. One list of
// columns can serve both.
package sheet

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"iwda/internal/convert"
	"iwda/internal/printable"
)

// Sheet is a table of any kind: in sections for readers, as records for programs.
type Sheet struct {
	Experiment string
	Title      string
	Unit       string // of the records' numbers; "" where columns differ
	Verdict    string // what it all says, for JSON; "" if nothing does
	Sections   []Section
	Legend     string   // explains the columns, sentences
	Notes      []string // what is missing, what was left out, sentences
	Facts      any      // a struct whose fields JSON has besides; nil if there are none
	Records    Records
}

// Section is a part of a sheet under a title of its own. A row has a cell for each
// head.
type Section struct {
	Title string
	Heads []Head
	Rows  [][]Cell
}

// Head stands above a column. The keys, which are the first columns, name a row: they
// align left, and all but the last are blank in print where the row above has the same.
type Head struct {
	Text string
	Key  bool
}

// Cell is an entry of a section.
type Cell struct {
	Value
	format Format
}

// Text is the cell as readers see it.
func (c Cell) Text() string { return c.format.text(c.Value) }

// Records are rows of the same fields.
type Records struct {
	Fields []string
	Rows   [][]Value
}

// Column is what a table says of each of its rows, which are of type R.
type Column[R any] struct {
	Name   string // of the field in CSV and JSON; "" is for readers alone
	Head   string // above the column for readers; "" is for programs alone
	Key    bool   // see Head
	Value  func(row R) Value
	Format Format // of the numbers that readers see
}

// NewSection returns the rows in those of the columns that have a head.
func NewSection[R any](title string, columns []Column[R], rows []R) Section {
	s := Section{Title: title, Rows: make([][]Cell, len(rows))}
	for _, c := range columns {
		if c.Head == "" {
			continue
		}
		s.Heads = append(s.Heads, Head{c.Head, c.Key})
		for i, row := range rows {
			s.Rows[i] = append(s.Rows[i], Cell{c.Value(row), c.Format})
		}
	}
	return s
}

// NewRecords returns the rows in those of the columns that have a name.
func NewRecords[R any](columns []Column[R], rows []R) Records {
	r := Records{Rows: make([][]Value, len(rows))}
	for _, c := range columns {
		if c.Name == "" {
			continue
		}
		r.Fields = append(r.Fields, c.Name)
		for i, row := range rows {
			r.Rows[i] = append(r.Rows[i], c.Value(row))
		}
	}
	return r
}

// keys is the number of columns that name a row.
func (s Section) keys() int {
	n := slices.IndexFunc(s.Heads, func(h Head) bool { return !h.Key })
	if n < 0 {
		return len(s.Heads)
	}
	return n
}

// lines returns the section in print, the heads first.
func (s Section) lines() [][]string {
	lines := [][]string{convert.Each(s.Heads, func(head Head) string { return Cell{Value: Word(head.Text)}.inMarkdown() })}
	for i, row := range s.Rows {
		line := make([]string, len(row))
		repeats := i > 0
		for j, cell := range row {
			repeats = repeats && j < s.keys()-1 && cell.Text() == s.Rows[i-1][j].Text()
			if !repeats {
				line[j] = cell.inMarkdown()
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// The formats of sheets.
const (
	Markdown = "md"
	CSV      = "csv"
	JSON     = "json"
)

// Formats returns the formats that Sheet.Write knows.
func Formats() []string { return []string{Markdown, CSV, JSON} }

// Write writes the sheet in a format.
func (s Sheet) Write(w io.Writer, format string) error {
	switch format {
	case Markdown:
		return s.writeMarkdown(w)
	case CSV:
		return s.writeCSV(w)
	case JSON:
		return s.writeJSON(w)
	}
	return fmt.Errorf("unknown format %q of a table: choose from %s", format, strings.Join(Formats(), ", "))
}

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
