package train

import (
	"context"

	"iwda/nets"
	"iwda/nets/regression"
)

// solve sets the classifier of a run without steps. It learns from all rows of the source: what
// stands for held-out rows are those by classifiers of the others, which cross-validation leaves.
func (t *trainer) solve(ctx context.Context) error {
	linear, is := t.model.network.(*nets.Linear)
	if !is || t.clock.steps() > 0 {
		return nil
	}
	rows := regression.Rows{Classes: len(t.data.classNames)}
	for _, part := range []rowReader{t.data.onSource, t.data.onHeldOut} {
		if part == nil {
			continue
		}
		for b, err := range part.batches(ctx, t.run.Train.EvalBatch) {
			if err != nil {
				return err
			}
			rows.Values = append(rows.Values, b.values.floats...)
			rows.Labels = append(rows.Labels, b.labels.Classes()...)
		}
	}
	solution, err := regression.Fit(ctx, rows)
	if err != nil {
		return err
	}
	linear.Set(float32s(solution.Weight), float32s(solution.Bias))
	if t.data.onHeldOut != nil {
		t.data.crossed = &outputs{classes: rows.Classes, logits: float32s(solution.Crossed), labels: solution.CrossedLabels}
	}
	t.options.logf("solved with C = %v", solution.C)
	return nil
}
