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

// Write leaves in the folder the chosen models, what they predict for every row of the
// target, with the probabilities of all classes if those are asked for, and the class
// shares. Each file is replaced in one step, so that all that is there is whole.
func (o *Outcome) Write(ctx context.Context, folder, results, target string, probabilities bool, options train.Options) error {
	var from []string
	for _, run := range o.Runs {
		from = append(from, run.Dir(results).String())
	}
	members, err := model.OpenMembers(from)
	if err != nil {
		return err
	}
	to := filepath.Join(folder, ModelFolder)
	if err := model.Save(to, members...); err != nil {
		return err
	}
	if err := writeClasses(filepath.Join(folder, ClassesFile), o.Classes); err != nil {
		return err
	}
	input, err := predict.Open(target, strings.NewReader(""), to, members[0].Metadata)
	if err != nil {
		return err
	}
	defer input.Close()
	ensemble := predict.NewEnsemble(members, predict.Options{Device: options.Device, Threads: options.Threads, Batch: predict.DefaultBatch})
	shares, err := ensemble.Shares(ctx, predict.ModelShares, nil)
	if err != nil {
		return err
	}
	about := table.Predictions{Classes: members[0].Classes, Probabilities: probabilities}
	o.Predicted = make([]float64, len(about.Classes))
	err = table.WritePredictions(filepath.Join(folder, PredictionsFile), about, func(add func(string, []float32) error) error {
		return ensemble.Each(ctx, []predict.Input{input}, shares, func(id string, probabilities []float32) error {
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
