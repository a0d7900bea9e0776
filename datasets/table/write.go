package table

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/internal/heading"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

// Predictions says what is written: rows with an id, the class of the largest probability
// (the first of several) and that probability.
type Predictions struct {
	// Classes names the classes in label order.
	Classes []string
	// Probabilities adds those of all classes to each row.
	Probabilities bool
	// Sets adds the set of classes that each row may have.
	Sets bool
	// Disk is where the file is written, the system's if it is nil.
	Disk *wholefile.Disk
}

// between stands between the classes of a set.
const between = " | "

// checkSets returns an error unless the classes of a set can be told from a text with all of their names.
func checkSets(classes []string) error {
	for _, class := range classes {
		if strings.Contains(class, between) {
			return fmt.Errorf("class %.100q has %q in its name, which separates the classes of a set: rename it", class, between)
		}
	}
	return nil
}

// Add takes a row of predictions: a probability for each class and, if sets are written, the classes that it
// may have.
type Add func(id string, probabilities []float32, set ...int) error

// WritePredictions writes a .csv file in one step: it appears when write has returned without an
// error, or not at all. write hands over one row after the other; the memory taken does not depend on
// how many there are.
//
// The columns are id, predicted_class (a name) and probability; those of all classes, probability_CLASS;
// and set, the names of its classes with " | " between them. [printable.FromCell] gives ids and classes
// back. [Open] reads files with the probabilities of all classes as [Probabilities].
//
// A probability that is not a number, and another number of them than there are classes are errors that
// name the row. An error
// of write itself is returned as it is. The counts are the rows by predicted class, of those
// that were handed over.
func WritePredictions(path string, p Predictions, write func(add Add) error) (counts []int, err error) {
	if err := CheckTable(path); err != nil {
		return nil, err
	}
	var ofCaller error
	err = p.Disk.Write(path, func(w io.Writer) (err error) {
		counts, err = StreamPredictions(w, p, func(add Add) error {
			ofCaller = write(add)
			return ofCaller
		})
		return err
	})
	if ofCaller != nil && !errors.As(ofCaller, new(rowError)) {
		return counts, ofCaller
	}
	return counts, err
}

// rowError is the error of a row that is not written.
type rowError struct{ error }

func (r rowError) Unwrap() error { return r.error }

// StreamPredictions writes what [WritePredictions] writes, as the rows come.
func StreamPredictions(w io.Writer, p Predictions, write func(add Add) error) (counts []int, err error) {
	columns := []string{heading.ID, heading.PredictedClass, heading.Probability}
	if p.Probabilities {
		columns = append(columns, convert.Each(p.Classes, heading.ProbabilityOf)...)
	}
	if p.Sets {
		if err := checkSets(p.Classes); err != nil {
			return nil, err
		}
		columns = append(columns, heading.Set)
	}
	counts = make([]int, len(p.Classes))
	row, cells := 0, make([]string, 0, len(columns))
	return counts, writeLines(w, columns, func(line func(cells ...string) error) error {
		var wrong error
		err := write(func(id string, probabilities []float32, set ...int) error {
			class, err := p.largest(probabilities)
			if err == nil {
				cells = append(cells[:0], id, p.Classes[class], Shortest(probabilities[class]))
				if p.Probabilities {
					for _, v := range probabilities {
						cells = append(cells, Shortest(v))
					}
				}
				if p.Sets {
					cells = append(cells, strings.Join(evenly.Pick(p.Classes, set), between))
				}
				err = line(cells...)
			}
			if err != nil {
				wrong = rowError{fmt.Errorf("row %d: %w", row, err)}
				return wrong
			}
			row++
			counts[class]++
			return nil
		})
		return cmp.Or(wrong, err)
	})
}

// largest returns the class that is predicted.
func (p Predictions) largest(probabilities []float32) (int, error) {
	if len(probabilities) != len(p.Classes) {
		return 0, fmt.Errorf("%d probabilities for %d classes", len(probabilities), len(p.Classes))
	}
	for class, v := range probabilities {
		if math.IsNaN(float64(v)) {
			return 0, fmt.Errorf("the probability of class %q is %v", p.Classes[class], v)
		}
	}
	return Largest(probabilities), nil
}

// Largest returns the class of the largest probability, which is predicted, the first one of several.
func Largest(probabilities []float32) (largest int) {
	for class, v := range probabilities {
		if v > probabilities[largest] {
			largest = class
		}
	}
	return largest
}

// CheckTable returns an error unless [WriteTable] and [WritePredictions] can write a file of that name, for a
// program that asks before it computes.
func CheckTable(path string) error {
	if strings.ToLower(filepath.Ext(path)) != ".csv" {
		return fmt.Errorf("%s: tables are written to .csv files", path)
	}
	return nil
}

// WriteTable writes a .csv file in one step: the names of its columns, and the lines that write hands over, one after
// the other; a line is not kept. What a spreadsheet would take for a formula stands there as [printable.Cell] has it.
func WriteTable(path string, columns []string, write func(line func(cells ...string) error) error) error {
	if err := CheckTable(path); err != nil {
		return err
	}
	return wholefile.Write(path, func(w io.Writer) error { return writeLines(w, columns, write) })
}

// writeLines writes a header and lines.
func writeLines(w io.Writer, columns []string, write func(line func(cells ...string) error) error) error {
	to, record := csv.NewWriter(w), make([]string, 0, len(columns))
	line := func(cells ...string) error {
		record = record[:0]
		for _, cell := range cells {
			record = append(record, printable.Cell(cell))
		}
		return to.Write(record)
	}
	if err := cmp.Or(line(columns...), write(line)); err != nil {
		return err
	}
	to.Flush()
	return to.Error()
}

// Shortest is the shortest text that is read as a float32 again; "" of one that is missing, NaN.
func Shortest(v float32) string { return cellOf(float64(v), 'g', -1, 32) }

// SixDecimals is a number with six decimals; "" of one that is missing, NaN.
func SixDecimals(v float64) string { return cellOf(v, 'f', 6, 64) }

func cellOf(v float64, form byte, digits, bits int) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, form, digits, bits)
}
