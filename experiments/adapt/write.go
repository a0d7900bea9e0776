package adapt

import (
	"context"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/experiments/predict"
	"iwda/experiments/train"
)

// The files of an adaptation's folder, beside the report.
const (
	ExperimentFile  = "experiment.yaml"
	PredictionsFile = "predictions.csv"
	ClassesFile     = "classes.csv"
	ModelFolder     = "model"
)

// Write leaves in the folder the chosen run's model, what it predicts for every row of the
// target, with the probabilities of all classes if those are asked for, and the class
// shares. Each file is replaced in one step, so that all that is there is whole.
func (o *Outcome) Write(ctx context.Context, folder, results, target string, probabilities bool, options train.Options) error {
	m, err := model.Open(o.Run.Dir(results).String())
	if err != nil {
		return err
	}
	to := filepath.Join(folder, ModelFolder)
	if err := model.Save(to, m); err != nil {
		return err
	}
	if err := writeClasses(filepath.Join(folder, ClassesFile), o.Classes); err != nil {
		return err
	}
	input, err := predict.Open(target, strings.NewReader(""), to, m.Metadata)
	if err != nil {
		return err
	}
	defer input.Close()
	o.Predicted = make([]float64, len(m.Classes))
	about := table.Predictions{Classes: m.Classes, Probabilities: probabilities}
	predictor := predict.New(m, predict.Options{Device: options.Device, Threads: options.Threads, Batch: predict.DefaultBatch})
	err = table.WritePredictions(filepath.Join(folder, PredictionsFile), about, func(add func(string, []float32) error) error {
		return predictor.Each(ctx, []predict.Input{input}, m.Shares.Target, func(id string, probabilities []float32) error {
			o.Predicted[largest(probabilities)]++
			return add(id, probabilities)
		})
	})
	floats.Scale(1/max(1, floats.Sum(o.Predicted)), o.Predicted)
	return err
}

// largest returns the index of the largest value, the first of equal ones.
func largest(values []float32) int {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return best
}
