// Package sheet prints tables: Markdown for terminals and pages, CSV and JSON for programs.
//
// What a table shows is said by typed columns over the rows of any Go type:
// NewSection makes of them what readers see, NewRecords what programs get. One list of
// columns can serve both.
package sheet

import (
	"fmt"
	"io"
	"slices"
	"strings"
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
	var heads []string
	for _, head := range s.Heads {
		heads = append(heads, Cell{Value: Word(head.Text)}.inMarkdown())
	}
	lines := [][]string{heads}
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
