package train

import (
	"context"
	"slices"

	"iwda/datasets"
	"iwda/experiments/store"
	"iwda/internal/evenly"
	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/nets/forest"
	"iwda/nets/regression"
	"iwda/torch"
)

// solve finds the network of a run without steps. It learns from all rows of the source: what
// stands for held-out rows are those by classifiers of the others, which cross-validation leaves, or by
// the trees of a forest that have not drawn them; what these say of the target's rows is compared
// with that.
func (t *trainer) solve(ctx context.Context) error {
	if t.clock.steps() > 0 {
		return nil
	}
	rows := learners.Rows{Classes: len(t.data.classNames)}
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
	spoken := func(logits []float32, of []int) { // of these rows
		heldOut.logits, heldOut.labels = logits, evenly.Pick(rows.Labels, of)
		if rows.Groups != nil {
			heldOut.groups = evenly.Pick(rows.Groups, of)
		}
	}
	switch network := t.model.network.(type) {
	case *nets.Linear:
		solution, err := regression.Fit(ctx, rows, target)
		if err != nil {
			return err
		}
		network.Set(float32s(solution.Weight), float32s(solution.Bias))
		spoken(float32s(solution.Crossed), solution.CrossedRows)
		compared.logits = float32s(solution.CrossedOthers)
		t.options.logf("solved with C = %v", solution.C)
	case *nets.Trees:
		if t.run.Network.Name == string(architecture.Boosting) {
			settings := boosting.Usual()
			settings.Threads = max(1, t.options.Threads)
			rows.Words = t.data.encoding.Words()
			fitted, err := boosting.Fit(ctx, rows, target, settings)
			if err != nil {
				return err
			}
			network.Set(fitted.Model)
			spoken(float32s(fitted.Crossed.Logits), fitted.CrossedRows)
			compared.logits = float32s(fitted.Crossed.InTurn(rows.Classes))
		} else {
			grown, err := forest.Fit(ctx, rows, datasets.Stream(t.run.Seed, t.run.Network.Name))
			if err != nil {
				return err
			}
			network.Set(grown.Forest)
			spoken(grown.OutOfBag, grown.OutOfBagRows)
			compared.logits = grown.Logits(target, datasets.Size(t.data.rowShape), grown.OutOfBagTrees)
		}
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
