package train

import (
	"context"
	"slices"

	"iwda/datasets"
	"iwda/experiments/store"
	"iwda/internal/evenly"
	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/learners/regression"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// learnersOf find the networks that make no steps.
var learnersOf = map[architecture.Name]learners.Learner{
	architecture.Linear: regression.Fit, architecture.Forest: forest.Fit, architecture.Boosting: boosting.Usual().Fit,
}

// solve finds the network of a run without steps. It learns from all rows of the source: what
// stands for held-out rows are those by classifiers of the others, which cross-validation leaves, or by
// the trees of a forest that have not drawn them; what these say of the target's rows is compared
// with that.
func (t *trainer) solve(ctx context.Context) error {
	if t.clock.steps() > 0 {
		return nil
	}
	rows := learners.Rows{Classes: len(t.data.classNames), Words: t.data.encoding.Words()}
	if groups := t.data.groups; groups.source != nil {
		rows.Groups = slices.Concat(groups.source, groups.heldOut)
	}
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
	var target []float32
	if t.data.onHeldOut != nil {
		if err := t.data.judged(ctx, func(values []float32) { target = append(target, values...) }); err != nil {
			return err
		}
	}
	heldOut, compared := &outputs{classes: rows.Classes}, &outputs{classes: rows.Classes}
	name := architecture.Name(t.run.Network.Name)
	fitted, err := learnersOf[name](ctx, rows, target, max(1, t.options.Threads), datasets.Stream(t.run.Seed, t.run.Network.Name))
	if err != nil {
		return err
	}
	heldOut.logits, heldOut.labels = float32s(fitted.Crossed.Logits), evenly.Pick(rows.Labels, fitted.Crossed.Rows)
	if rows.Groups != nil {
		heldOut.groups = evenly.Pick(rows.Groups, fitted.Crossed.Rows)
	}
	compared.logits = float32s(fitted.Crossed.InTurn(rows.Classes))
	switch network := t.model.network.(type) {
	case *nets.Linear:
		if err := network.State().Load(nets.TensorsOf(fitted.Model)); err != nil {
			return err
		}
		t.options.logf("solved with C = %v", fitted.Model.(regression.Classifier).C)
	case *nets.Trees:
		network.Set(fitted.Model.(nets.Grown))
		network.State().Move(torch.Float32, t.options.Device)
		trees, nodes, _ := network.Sizes()
		t.options.logf("grown to %d trees of %d nodes", trees, nodes)
	}
	if t.data.onHeldOut != nil {
		if groups := t.data.groups.test; groups != nil {
			compared.groups = evenly.Pick(groups, store.JudgedRows(len(groups)))
		}
		t.data.crossed = &crossed{heldOut, compared}
	}
	return nil
}

// crossed is what classifiers say, each of rows that it has not learnt from: of rows of the source, and
// of the target's judged rows.
type crossed struct{ heldOut, target *outputs }

// judged hands the target's rows by which runs are judged to take, part by part.
func (d *data) judged(ctx context.Context, take func(values []float32)) error {
	const rows = 500 // at once
	size, rowsAsked := datasets.Size(d.rowShape), &outputs{kept: store.JudgedRows(d.test.Len())}
	for b, err := range d.onTest.batches(ctx, rows) {
		if err != nil {
			return err
		}
		var kept []float32
		for i := range b.labels.Len() {
			if rowsAsked.next() {
				kept = append(kept, b.values.floats[i*size:(i+1)*size]...)
			}
		}
		take(kept)
	}
	return nil
}
