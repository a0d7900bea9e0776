package adapt

import (
	"context"
	"io"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/predict"
	"iwda/experiments/report/page"
	"iwda/internal/wholefile"
)

// write leaves in the folder the chosen models, what they predict for every row of the target,
// the class shares, and the report. Each file is replaced in one step, so that all that is
// there is whole.
func (o *conclusion) write(ctx context.Context, p *Plan) error {
	if err := o.predict(ctx, p); err != nil {
		return err
	}
	if err := writeClasses(p.path(ClassesFile), o.Classes); err != nil {
		return err
	}
	found, err := plan.Find(p.file, p.results())
	if err != nil {
		return err
	}
	return wholefile.Write(p.path(ReportFile), func(w io.Writer) error {
		return page.Write(w, page.Content{
			Config: p.file.Config, Planned: found.Planned, Runs: found.Runs, Problems: found.Problems, Notes: found.Notes,
			Outcome: o.Sheets(),
		})
	})
}

// predict writes the models and their predictions.
func (o *conclusion) predict(ctx context.Context, p *Plan) error {
	var from []string
	for _, run := range o.Runs {
		from = append(from, run.Dir(p.results()).String())
	}
	members, err := model.OpenMembers(from)
	if err != nil {
		return err
	}
	to := p.path(ModelFolder)
	if err := model.Save(to, members...); err != nil {
		return err
	}
	input, err := predict.Open(p.target, strings.NewReader(""), to, members[0].Metadata)
	if err != nil {
		return err
	}
	defer input.Close()
	ensemble := predict.NewEnsemble(members, predict.Options{Device: p.options.Device, Threads: max(1, p.options.Threads), Batch: predict.DefaultBatch})
	shares, err := ensemble.Shares(ctx, predict.ModelShares, nil)
	if err != nil {
		return err
	}
	about := table.Predictions{Classes: members[0].Classes, Probabilities: p.options.Probabilities}
	o.Predicted = make([]float64, len(about.Classes))
	err = table.WritePredictions(p.path(PredictionsFile), about, func(add func(string, []float32) error) error {
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
