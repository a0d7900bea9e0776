package report

import (
	"math"
	"slices"
	"strconv"
)

// Sheet is a table of any kind, ready to be written: in sections for readers, as
// records for programs.
type Sheet struct {
	Experiment string
	Title      string
	Unit       string // of the records' numbers; "" where columns differ
	Sections   []Section
	Legend     string   // explains the columns, sentences
	Notes      []string // what is missing, what was left out, sentences
	Records    Records
	// Tabulars are what WriteLaTeX writes; where there are none, a tabular a section.
	Tabulars []Tabular
}

// Section is a part of a sheet under a title of its own.
type Section struct {
	Title  string
	Header []string
	Names  int // columns at the left that hold names; the others hold numbers
	Rows   [][]Cell
}

// Cell is an entry of a section: how it is printed, and the number that it is
// sorted by, NaN where it has none.
type Cell struct {
	Text  string
	Value float64
}

// Records are rows of the same fields; a value is a string, an int or a float64,
// NaN where there is none.
type Records struct {
	Fields []string
	Rows   [][]any
}

func word(text string) Cell { return Cell{text, math.NaN()} }

// figure is a number as the format prints it, and none for NaN.
func figure(format string, value float64) Cell { return Cell{number(format, value), value} }

func count(n int) Cell { return Cell{strconv.Itoa(n), float64(n)} }

// texts returns the header and the rows in print: names but the last are blank
// where the row above has the same.
func (s Section) texts() [][]string {
	lines := [][]string{slices.Clone(s.Header)}
	for i, row := range s.Rows {
		line := make([]string, len(row))
		repeats := i > 0
		for j, cell := range row {
			repeats = repeats && j < s.Names-1 && cell.Text == s.Rows[i-1][j].Text
			if !repeats {
				line[j] = cell.Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// HasValue reports whether the cell has a number to be sorted by.
func (c Cell) HasValue() bool { return !math.IsNaN(c.Value) }
