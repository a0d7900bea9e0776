package predict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/inference/sets"
	"iwda/internal/convert"
	"iwda/internal/input"
)

// Request says what is predicted of which rows, and where to.
type Request struct {
	Inputs        []string    // paths as [Open] takes them
	Roles         table.Roles // of the columns of all inputs
	Shares        string      // class shares to correct for, see [Predictor.Shares]
	Output        string      // a file that [table.WritePredictions] writes, or [Stdout]
	Stdout        io.Writer
	Probabilities bool // those of all classes too, as they always are of up to [FewClasses]
	// Sets is the level, of those that the models know, of a set of classes for each row; 0 for none.
	Sets float64
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

// Write predicts all rows of the inputs with models as [model.Trust.OpenEnsemble] returns them,
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
		input, err := Open(path, request.Roles, models[0].Folder, models[0].Metadata)
		if err != nil {
			return w, err
		}
		inputs = append(inputs, input)
	}
	thresholds, err := thresholdsOf(models, request.Sets)
	if err != nil {
		return w, err
	}
	ensemble := NewEnsemble(models, options)
	if w.Shares, err = ensemble.Shares(ctx, request.Shares, inputs); err != nil {
		return w, fmt.Errorf("class shares %s: %w", request.Shares, err)
	}
	rows := func(add table.Add) error {
		if request.Also != nil {
			add = request.andAlso(add, models[0].Classes)
		}
		return ensemble.each(ctx, inputs, w.Shares, thresholds, add)
	}
	what := table.Predictions{Classes: models[0].Classes, Sets: thresholds != nil, Probabilities: request.Probabilities || len(models[0].Classes) <= FewClasses}
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

// ErrNoSets is returned where sets of classes are asked for that the models do not know.
var ErrNoSets = input.Wrong(errors.New("there are no sets of classes by these models: it takes a table, or methods that make no steps, whose classifiers have judged source rows that they had not learnt from; with iwrun adapt --set 'methods=[source-only@linear]' an array has one"))

// thresholdsOf returns those of the sets of a level by models that predict together; nil for the level 0.
func thresholdsOf(models []model.Model, level float64) (sets.Thresholds, error) {
	if level == 0 {
		return nil, nil
	}
	known := models[0].Sets
	if known == nil || known.Models != len(models) {
		return nil, ErrNoSets
	}
	at := slices.Index(known.Levels, level)
	if at < 0 {
		return nil, input.Wrong(fmt.Errorf("--sets %v: the models have sets of the levels %v", level, known.Levels))
	}
	return known.Thresholds[at], nil
}

// each is [Ensemble.Each] with the set of each row, if there are thresholds.
func (e Ensemble) each(ctx context.Context, inputs []Input, shares [][]float64, thresholds sets.Thresholds, add table.Add) error {
	if thresholds == nil {
		return e.Each(ctx, inputs, shares, func(id string, probabilities []float32) error { return add(id, probabilities) })
	}
	k := len(thresholds)
	return eachBatch(ctx, inputs, e, func(b batch, logits [][]float32) error {
		plain, err := e.mean(logits, make([][]float64, len(e)))
		if err != nil {
			return err
		}
		corrected, err := e.mean(logits, shares)
		if err != nil {
			return err
		}
		for i := range len(plain) / k {
			if err := add(b.id(i), convert.Slice[float32](corrected[i*k:(i+1)*k]), thresholds.Of(plain[i*k:(i+1)*k])...); err != nil {
				return err
			}
		}
		return nil
	})
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
