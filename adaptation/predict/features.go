package predict

import (
	"context"
	"fmt"

	"iwda/datasets"
	"iwda/experiments/engine"
	"iwda/experiments/model"
	"iwda/nets/architecture"
)

// Features returns what a model's network makes of rows before its classifier, row-major, and their
// width, all at once. There must be a row. The rows are those that [normalise.Normalisation.OnSource] or OnTarget
// returns: they are not normalised here.
func Features(ctx context.Context, m model.Model, rows datasets.Set, o Options) (values []float32, width int, err error) {
	with := &engine.Rows{Members: []int{0}, Shape: rows.Shape(), Normalised: true}
	size := datasets.Size(with.Shape)
	with.Values = make([]float32, rows.Len()*size)
	for i := range rows.Len() {
		rows.CopyRow(with.Values[i*size:(i+1)*size], i)
	}
	if m.Architecture.Name == architecture.Perceptron {
		values, width = m.Features(with.Values)
		return values, width, nil
	}
	if with.Of, err = o.orUsual().open(ctx, []model.Model{m}); err != nil {
		return nil, 0, err
	}
	var features engine.Outputs
	if err := o.Torch.Ask(ctx, engine.Features, with, &features); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", rows.Name(), err)
	}
	return features.Values, features.Width, nil
}
