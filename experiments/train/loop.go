package train

import (
	"context"
	"math"
	"time"

	"iwda/experiments/measure"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/torch"
)

// train makes the steps that are left, updates the class weights where that is due, and measures
// the network before the first step and after every epoch. It stops between two steps when ctx is
// cancelled, and at the first error, which then names the place.
func (t *trainer) train(ctx context.Context) error {
	for {
		if err := t.updateClassWeights(); err != nil {
			return t.clock.after("class weights", err)
		}
		if t.clock.atEpoch() {
			if err := t.measure(ctx); err != nil {
				return t.clock.after("evaluation", err)
			}
		}
		if t.clock.done == t.clock.steps() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.step(ctx, t.clock.next()); err != nil {
			return err
		}
		t.clock.done++
		checkpoint := t.checkpoints.due(t.clock.done, t.clock.stepsPerEpoch)
		if checkpoint || t.classWeights.due(t.clock.done) || t.clock.atEpoch() {
			if err := t.readSteps(); err != nil {
				return err
			}
		}
		t.reportProgress()
		if checkpoint {
			if err := t.checkpoints.write(); err != nil {
				return t.clock.after("checkpoint", err)
			}
		}
	}
}

// step takes a batch and makes one step of all optimisers. It reads what steps left, if
// there is enough of it.
func (t *trainer) step(ctx context.Context, p position) error {
	b, err := t.data.feed.next(ctx)
	if err != nil {
		return p.failed(err)
	}
	aligned, coefficients := t.objective.next(p)
	rates := t.optimisation.rates(p)
	torch.Tidy(func() {
		in := t.model.inputs(b)
		t.readings.add(p, t.capturer.step(in, aligned, rates, coefficients), b.classes())
		if t.readings.full() {
			err = t.readSteps()
		} else {
			t.readings.keep()
		}
	})
	return err
}

// compute makes a step. All that differs between two steps is in its arguments and in
// tensors, so that a GPU can capture it.
func (t *trainer) compute(in stepInputs, aligned bool, rates, coefficients []torch.Coefficient) measures {
	f := t.model.forward(in, aligned)
	losses := t.objective.losses(f, aligned, coefficients, t.classWeights.inLosses)
	norms := t.optimisation.step(rates, losses.minimised)
	return measured(f, losses, norms)
}

// readSteps takes into account what steps left that were not read yet. A loss or gradient that
// is not finite, or too large in a run that may begin again, is an error, before anything is
// measured or written of what was learned from it.
func (t *trainer) readSteps() error {
	largest := math.Inf(1)
	if t.restarts.most > 0 {
		largest = largestLoss
	}
	return t.readings.take(t.objective.tradeOff, func(step reading, v stepValues) error {
		if err := v.check(step.at, largest); err != nil {
			return err
		}
		t.record.sums.Add(v.Sums)
		return t.classWeights.observe(v.predictions, step.classes)
	})
}

// measure evaluates the network on the target's test set. A run that was interrupted
// right after that does not repeat it.
func (t *trainer) measure(ctx context.Context) error {
	if t.record.evaluatedAfter(t.clock.done) {
		return nil
	}
	// A loss is that of training, and says nothing of a running variance with which evaluation goes on.
	for _, e := range t.model.state() {
		if mustBeFinite(e) {
			if err := checkFinite(e.Name, e.Tensor, t.clock.done); err != nil {
				return err
			}
		}
	}
	seen, err := measure.Observe(ctx, &t.data.About, t.evaluator.sets(t.data), finite{t.clock.done})
	if err != nil {
		return err
	}
	m := store.Metrics{
		Epoch: t.clock.done / t.clock.stepsPerEpoch, Step: t.clock.done,
		LearningRate: t.optimisation.rate,
		Criteria:     seen.Criteria(t.clock.done, t.options.logf),
		Seconds:      t.effort.seconds(),
	}
	t.classWeights.Describe(&m)
	seen.Describe(&m)
	t.record.addEvaluation(m, seen.OnTest)
	return t.record.writeIfDue()
}

// progressPause is the time between two reports of progress.
const progressPause = 200 * time.Millisecond

func (t *trainer) reportProgress() {
	if t.options.Progress == nil || !t.progress.Due() {
		return
	}
	t.options.Progress(plan.Progress{Step: t.clock.done, Steps: t.clock.steps()})
}

// updateClassWeights updates them where that is due, records it and says so in the log. A
// run that was interrupted right after that does not repeat it.
func (t *trainer) updateClassWeights() error {
	done := t.clock.done
	if done == 0 || !t.classWeights.due(done) || t.record.updatedAfter(done) {
		return nil
	}
	updates, err := t.classWeights.update(done)
	if err != nil {
		return err
	}
	for _, u := range updates {
		u.Epoch = t.clock.epochOf(done)
		t.record.addUpdate(u)
		t.options.logf("%s", inWords(u))
	}
	return nil
}
