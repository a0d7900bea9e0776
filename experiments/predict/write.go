package predict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"iwda/datasets/table"
	"iwda/experiments/model"
)

// Request says what is predicted of which rows, and where to.
type Request struct {
	Inputs        []string    // paths as [Open] takes them
	Roles         table.Roles // of the columns of all inputs
	Stdin         io.Reader   // of the input [Stdin]
	Shares        string      // class shares to correct for, see [Predictor.Shares]
	Output        string      // a file that [table.WritePredictions] writes, or [Stdout]
	Stdout        io.Writer
	Probabilities bool // those of all classes too, as they always are of up to [FewClasses]
	// Also is told of each row that was predicted; it may be nil.
	Also func(id, class string, probability float64)
}

// FewClasses is the number of classes up to which the probabilities of all are written.
const FewClasses = 10

// Stdout is the name of an output that is written to standard output as CSV, row by row.
const Stdout = "-"

// Written is what was predicted.
type Written struct {
	Counts []int       // rows by predicted class
	Shares [][]float64 // what the probabilities were corrected for, members × classes
	Strays []string    // see [table.Table.Strays], [images.Set.PassedOver] and [images.Reader.Notes]
}

// Rows is the number of all rows.
func (w Written) Rows() (n int) {
	for _, count := range w.Counts {
		n += count
	}
	return n
}

// Write predicts all rows of the inputs with models as [model.OpenEnsemble] returns them,
// one input after the other, and writes the predictions. Errors are those of [Open],
// [Ensemble.Each] and [table.WritePredictions]; one of the class shares names them. The
// counts are those of the rows until then.
func Write(ctx context.Context, models []model.Model, request Request, options Options) (w Written, err error) {
	var inputs []Input
	defer func() {
		for _, input := range inputs {
			err = errors.Join(err, input.Close())
		}
	}()
	for _, path := range request.Inputs {
		input, err := Open(path, request.Roles, request.Stdin, models[0].Folder, models[0].Metadata)
		if err != nil {
			return w, err
		}
		inputs = append(inputs, input)
	}
	ensemble := NewEnsemble(models, options)
	if w.Shares, err = ensemble.Shares(ctx, request.Shares, inputs); err != nil {
		return w, fmt.Errorf("class shares %s: %w", request.Shares, err)
	}
	rows := func(add table.Add) error {
		if request.Also != nil {
			add = request.andAlso(add, models[0].Classes)
		}
		return ensemble.Each(ctx, inputs, w.Shares, func(id string, probabilities []float32) error { return add(id, probabilities) })
	}
	what := table.Predictions{Classes: models[0].Classes, Probabilities: request.Probabilities || len(models[0].Classes) <= FewClasses}
	if request.Output == Stdout {
		w.Counts, err = table.StreamPredictions(request.Stdout, what, rows)
	} else {
		w.Counts, err = table.WritePredictions(request.Output, what, rows)
	}
	for _, input := range inputs {
		if rows, is := input.(tableInput); is {
			w.Strays = append(w.Strays, rows.Strays()...)
		}
		if files, is := input.(imageInput); is {
			w.Strays = append(w.Strays, slices.Concat(files.Set().PassedOver(), files.Notes())...)
		}
	}
	return w, err
}

// andAlso returns add with a word to Also once it is done.
func (r Request) andAlso(add table.Add, classes []string) table.Add {
	return func(id string, probabilities []float32, set ...int) error {
		if err := add(id, probabilities, set...); err != nil {
			return err
		}
		class := table.Largest(probabilities)
		r.Also(id, classes[class], float64(probabilities[class]))
		return nil
	}
}
