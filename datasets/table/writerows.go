package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"iwda/internal/heading"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

// Field is a column of a table that is written for users.
type Field struct {
	Name string
	Kind FieldKind
	// Classes are those of [ClassesField].
	Classes []string
}

// FieldKind says what the cells of a column are.
type FieldKind int

// The kinds of columns. A number that is missing is an empty cell.
const (
	TextField        FieldKind = iota
	ProbabilityField           // a float32, the shortest text that is read as that number again
	ShareField                 // with six decimals
	NumberField                // with all its digits
	ClassesField               // probabilities of all classes, a column each, of the name [heading.ProbabilityOf] its class
)

// Cell is what a row has in a column: of the three the one that suits the column's kind.
type Cell struct {
	Text    string
	Number  float64 // NaN if it is missing
	Numbers []float32
}

// CheckTable returns an error unless [WriteTable] and [WritePredictions] can write a file of that name, for a
// program that asks before it computes.
func CheckTable(path string) error {
	if extensionOf(path) != ".csv" {
		return fmt.Errorf("%s: tables are written to .csv files", path)
	}
	return nil
}

// WriteTable writes a .csv file in one step. write hands over one row after the other, a cell for each field; a row is
// not kept. What a spreadsheet would take for a formula stands there as [printable.Cell] has it.
func WriteTable(path string, fields []Field, write func(add func(row ...Cell) error) error) error {
	if err := CheckTable(path); err != nil {
		return err
	}
	return wholefile.Write(path, func(w io.Writer) error {
		rows, err := newCSVRows(w, fields)
		if err != nil {
			return err
		}
		if err := write(func(row ...Cell) error { return rows.add(row) }); err != nil {
			return err
		}
		return rows.close()
	})
}

// csvRows writes a line a row.
type csvRows struct {
	w      *csv.Writer
	fields []Field
	record []string
	number []byte
}

func newCSVRows(w io.Writer, fields []Field) (*csvRows, error) {
	c := &csvRows{w: csv.NewWriter(w), fields: fields}
	for _, f := range fields {
		if f.Kind != ClassesField {
			c.record = append(c.record, printable.Cell(f.Name))
			continue
		}
		for _, class := range f.Classes {
			c.record = append(c.record, heading.ProbabilityOf(class))
		}
	}
	return c, c.w.Write(c.record)
}

func (c *csvRows) add(row []Cell) error {
	c.record = c.record[:0]
	for i, cell := range row {
		switch c.fields[i].Kind {
		case TextField:
			c.record = append(c.record, printable.Cell(cell.Text))
		case ProbabilityField:
			c.record = append(c.record, c.text(cell.Number, 'g', -1, 32))
		case ShareField:
			c.record = append(c.record, c.text(cell.Number, 'f', 6, 64))
		case NumberField:
			c.record = append(c.record, c.text(cell.Number, 'g', -1, 64))
		case ClassesField:
			for _, v := range cell.Numbers {
				c.record = append(c.record, c.text(float64(v), 'g', -1, 32))
			}
		}
	}
	return c.w.Write(c.record)
}

// text is a number as [strconv.FormatFloat] writes it, "" if it is missing.
func (c *csvRows) text(v float64, form byte, digits, bits int) string {
	if math.IsNaN(v) {
		return ""
	}
	c.number = strconv.AppendFloat(c.number[:0], v, form, digits, bits)
	return string(c.number)
}

func (c *csvRows) close() error {
	c.w.Flush()
	return c.w.Error()
}
