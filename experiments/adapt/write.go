package adapt

import (
	"context"
	"path/filepath"

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
	if err := model.Save(filepath.Join(folder, ModelFolder), members...); err != nil {
		return err
	}
	if err := writeClasses(filepath.Join(folder, ClassesFile), o.Classes); err != nil {
		return err
	}
	request := predict.Request{
		Inputs: []string{target}, Shares: predict.ModelShares,
		Output: filepath.Join(folder, PredictionsFile), Probabilities: probabilities,
	}
	written, err := predict.Write(ctx, members, request, predict.Options{Device: options.Device, Threads: options.Threads, Batch: predict.DefaultBatch})
	if err != nil {
		return err
	}
	for _, n := range written.Counts {
		o.Predicted = append(o.Predicted, float64(n)/float64(written.Rows()))
	}
	return nil
}
