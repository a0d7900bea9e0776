package table

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"iwda/internal/evenly"
	"iwda/internal/heading"
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

func extensionOf(path string) string { return strings.ToLower(filepath.Ext(path)) }

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
	err = p.Disk.Write(path, func(w io.Writer) error {
		writer, err := p.rows(w)
		if err == nil {
			counts, ofCaller, err = p.write(writer, write)
		}
		return cmp.Or(ofCaller, err)
	})
	return counts, cmp.Or(ofCaller, err)
}

// StreamPredictions writes what [WritePredictions] writes, as the rows come.
func StreamPredictions(w io.Writer, p Predictions, write func(add Add) error) (counts []int, err error) {
	writer, err := p.rows(w)
	if err != nil {
		return nil, err
	}
	counts, ofCaller, err := p.write(writer, write)
	return counts, cmp.Or(ofCaller, err)
}

// write writes the rows, counts them by class and closes the writer. It tells an error of the
// caller's function from its own.
func (p Predictions) write(writer *rowPredictions, write func(add Add) error) (counts []int, ofCaller, err error) {
	row := 0
	counts = make([]int, len(p.Classes))
	var refused error
	ofCaller = write(func(id string, probabilities []float32, set ...int) error {
		class, err := p.largest(probabilities)
		if err == nil {
			err = writer.add(id, class, probabilities, set)
		}
		if err != nil {
			refused = fmt.Errorf("row %d: %w", row, err)
			return refused
		}
		row++
		counts[class]++
		return nil
	})
	if refused != nil {
		ofCaller = nil
	}
	return counts, ofCaller, cmp.Or(refused, writer.close())
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

// rowPredictions writes them.
type rowPredictions struct {
	*csvRows
	what Predictions
	row  []Cell
}

func (p Predictions) rows(w io.Writer) (*rowPredictions, error) {
	fields := []Field{{Name: heading.ID}, {Name: heading.PredictedClass}, {Name: heading.Probability, Kind: ProbabilityField}}
	if p.Probabilities {
		fields = append(fields, Field{Probabilities.String(), ClassesField, p.Classes})
	}
	if p.Sets {
		if err := checkSets(p.Classes); err != nil {
			return nil, err
		}
		fields = append(fields, Field{Name: heading.Set})
	}
	rows, err := newCSVRows(w, fields)
	return &rowPredictions{csvRows: rows, what: p}, err
}

func (r *rowPredictions) add(id string, class int, probabilities []float32, set []int) error {
	r.row = append(r.row[:0], Cell{Text: id}, Cell{Text: r.what.Classes[class]}, Cell{Number: float64(probabilities[class])})
	if r.what.Probabilities {
		r.row = append(r.row, Cell{Numbers: probabilities})
	}
	if r.what.Sets {
		r.row = append(r.row, Cell{Text: strings.Join(evenly.Pick(r.what.Classes, set), between)})
	}
	return r.csvRows.add(r.row)
}
