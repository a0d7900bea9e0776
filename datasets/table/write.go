package table

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

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
	// Disk is where the file is written, the system's if it is nil.
	Disk *wholefile.Disk
}

// predictionWriter writes predictions in one format.
type predictionWriter interface {
	add(id string, class int, probabilities []float32) error
	close() error
}

// predictionFormats are the formats by the ends of files' names. folder is where a file
// can grow that is no part of the result.
var predictionFormats = map[string]func(w io.Writer, folder string, p Predictions) (predictionWriter, error){
	".csv":     newCSVPredictions,
	".npz":     newNPZPredictions,
	".parquet": newParquetPredictions,
}

// CheckPredictions returns an error unless [WritePredictions] can write a file of that
// name, for a program that asks before it computes.
func CheckPredictions(path string) error {
	if predictionFormats[strings.ToLower(filepath.Ext(path))] == nil {
		return fmt.Errorf("%s: predictions are written to .csv, .npz and .parquet files", path)
	}
	return nil
}

// WritePredictions writes a file of the format of its name, .csv, .npz or .parquet, in one
// step: it appears when write has returned without an error, or not at all. write hands
// over one row after the other, with a probability for each class; the memory taken does
// not depend on how many there are.
//
// The columns are id, predicted_class (a name) and probability, and those of all classes:
// probability_CLASS in CSV, whose ids and classes [printable.FromCell] gives back, the lists
// probabilities in Parquet. An .npz file has the arrays ids, predicted_class (numbers from 0),
// probability, class_names, and probabilities. [Open] reads files with the probabilities of all
// classes as [Probabilities].
//
// An id of more than 16,384 characters in an .npz file, a probability that is not a number,
// and another number of them than there are classes are errors that name the row. An error
// of write itself is returned as it is. The counts are the rows by predicted class, of those
// that were handed over.
func WritePredictions(path string, p Predictions, write func(add func(id string, probabilities []float32) error) error) (counts []int, err error) {
	if err := CheckPredictions(path); err != nil {
		return nil, err
	}
	format := predictionFormats[strings.ToLower(filepath.Ext(path))]
	var ofCaller error
	err = p.Disk.Write(path, func(w io.Writer) error {
		writer, err := format(w, filepath.Dir(path), p)
		if err == nil {
			counts, ofCaller, err = p.write(writer, write)
		}
		return cmp.Or(ofCaller, err)
	})
	return counts, cmp.Or(ofCaller, err)
}

// StreamPredictions writes what [WritePredictions] writes into a .csv file, as the rows
// come.
func StreamPredictions(w io.Writer, p Predictions, write func(add func(id string, probabilities []float32) error) error) (counts []int, err error) {
	writer, err := newCSVPredictions(w, "", p)
	if err != nil {
		return nil, err
	}
	counts, ofCaller, err := p.write(writer, write)
	return counts, cmp.Or(ofCaller, err)
}

// write writes the rows, counts them by class and closes the writer. It tells an error of the
// caller's function from its own.
func (p Predictions) write(writer predictionWriter, write func(add func(id string, probabilities []float32) error) error) (counts []int, ofCaller, err error) {
	row := 0
	counts = make([]int, len(p.Classes))
	var refused error
	ofCaller = write(func(id string, probabilities []float32) error {
		class, err := p.largest(probabilities)
		if err == nil {
			err = writer.add(id, class, probabilities)
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

// csvPredictions writes a line a row.
type csvPredictions struct {
	w      *csv.Writer
	what   Predictions
	record []string
	number []byte
}

func newCSVPredictions(w io.Writer, _ string, p Predictions) (predictionWriter, error) {
	c := &csvPredictions{w: csv.NewWriter(w), what: p}
	c.record = append(c.record, heading.ID, heading.PredictedClass, heading.Probability)
	if p.Probabilities {
		for _, class := range p.Classes {
			c.record = append(c.record, heading.ProbabilityOf(class))
		}
	}
	return c, c.w.Write(c.record)
}

func (c *csvPredictions) add(id string, class int, probabilities []float32) error {
	c.record = append(c.record[:0], printable.Cell(id), printable.Cell(c.what.Classes[class]), c.text(probabilities[class]))
	if c.what.Probabilities {
		for _, v := range probabilities {
			c.record = append(c.record, c.text(v))
		}
	}
	return c.w.Write(c.record)
}

// text is the shortest text that is read as that number again.
func (c *csvPredictions) text(v float32) string {
	c.number = strconv.AppendFloat(c.number[:0], float64(v), 'g', -1, 32)
	return string(c.number)
}

func (c *csvPredictions) close() error {
	c.w.Flush()
	return c.w.Error()
}
