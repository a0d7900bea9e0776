package train

import (
	"context"
	"fmt"
	"math"
	"time"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/torch"
)

// length is that of a run. The epochs of one that counts steps lie between two
// evaluations.
type length struct{ epochs, stepsPerEpoch int }

// lengthOf returns the length of a run of which a pass over the source takes passSteps.
func lengthOf(t config.Train, passSteps int) length {
	if t.Steps > 0 {
		return length{t.Evaluations(), t.EvalEvery}
	}
	return length{t.Evaluations(), passSteps}
}

func (l length) steps() int { return l.epochs * l.stepsPerEpoch }

// epochOf is the epoch, from 1, of a step, from 1.
func (l length) epochOf(step int) int { return 1 + (step-1)/l.stepsPerEpoch }

// position is where in a run a step is made.
type position struct {
	epoch int // from 1
	step  int // steps made before
}

// failed puts the place before an error of the step.
func (p position) failed(err error) error {
	return fmt.Errorf("epoch %d, step %d: %w", p.epoch, p.step+1, err)
}

// train makes the steps that are left, updates the class weights after those where that is
// due, and measures the network before the first, after every epoch and so after the last. It stops between two steps when ctx is cancelled, and
// at the first error, which then names the place.
func (t *trainer) train(ctx context.Context) error {
	asked := ctx // to stop
	if !t.processes.alone() {
		ctx = context.WithoutCancel(ctx) // they stop between two steps, all after the same one
	}
	for {
		if err := t.updateClassWeights(ctx); err != nil {
			return t.after("class weights", err)
		}
		if t.done%t.length.stepsPerEpoch == 0 {
			if err := t.measure(ctx); err != nil {
				return t.after("evaluation", err)
			}
		}
		if t.done == t.length.steps() {
			return nil
		}
		if err := t.processes.stopping(asked, t.done); err != nil {
			return err
		}
		next := position{epoch: t.length.epochOf(t.done + 1), step: t.done}
		if err := t.step(ctx, next); err != nil {
			return err
		}
		t.done++
		checkpoint := t.checkpoints.due(t.done, t.length.stepsPerEpoch)
		if checkpoint || t.classWeights.due(t.done) || t.done%t.length.stepsPerEpoch == 0 {
			if err := t.readSteps(); err != nil {
				return err
			}
		}
		t.reportProgress()
		if checkpoint {
			if err := t.writeCheckpoint(); err != nil {
				return t.after("checkpoint", err)
			}
		}
	}
}

// after puts the place and what was done there before an error.
func (t *trainer) after(what string, err error) error {
	return fmt.Errorf("epoch %d, after step %d: %s: %w", t.length.epochOf(max(1, t.done)), t.done, what, err)
}

// step takes a batch and makes one step of all optimisers. It reads what steps left, if
// there is enough of it.
func (t *trainer) step(ctx context.Context, p position) error {
	b, err := t.data.feed.next(ctx)
	if err != nil {
		return p.failed(err)
	}
	t.processes.seedDropout(t.random, t.run.Seed, p.step)
	aligned, coefficients := t.objective.next(p)
	rates := t.optimisation.rates(p)
	torch.Tidy(func() {
		in := t.model.inputs(t.processes.share(b))
		t.readings.add(p, t.recorder.step(in, aligned, rates, coefficients), b.classes())
		if t.readings.full() {
			err = t.readSteps()
		} else {
			t.readings.keep()
		}
	})
	return err
}

// compute makes a step. All that differs between two steps is in its arguments and in
// tensors, so that it can be recorded.
func (t *trainer) compute(in stepInputs, aligned bool, rates, coefficients []torch.Coefficient) measures {
	f := t.model.forward(in, aligned)
	losses := t.objective.losses(f, aligned, coefficients, t.classWeights.inLosses)
	norms := t.optimisation.step(rates, losses.minimised)
	return measure(f, losses, norms, t.processes.wholeBatch(f))
}

// readSteps takes into account what the steps left that were not read yet. A loss or gradient
// that was not finite is an error, before anything is measured or written of what was
// learned from it.
func (t *trainer) readSteps() error {
	return t.readings.take(t.objective.tradeOff, func(step reading, v stepValues) error {
		if err := v.checkFinite(step.at); err != nil {
			return err
		}
		t.record.addStep(v.losses)
		t.record.addInstruments(v.instruments)
		return t.classWeights.observe(v.predictions, step.classes)
	})
}

// measure evaluates the network on the target's test set. A run that was interrupted
// right after that does not repeat it.
func (t *trainer) measure(ctx context.Context) error {
	if t.record.evaluatedAfter(t.done) {
		return nil
	}
	t.processes.copyOfFirst(t.model.state())
	onTest, predicted := newConfusion(len(t.data.classNames)), newPredictions(len(t.data.classNames))
	heldOut, target, validation, err := t.evaluateAll(ctx, onTest, predicted)
	if err != nil {
		return err
	}
	m := store.Metrics{
		Epoch: t.done / t.length.stepsPerEpoch, Step: t.done,
		WeightDistance: t.classWeights.distance().OrNaN(),
		LearningRate:   t.optimisation.rate,
		Criteria:       t.criteria(heldOut, target),
	}
	t.classWeights.describe(&m)
	m.LabelShiftP = t.record.labelShiftP(t.done)
	if t.describesTarget() {
		m.Certainty = store.Measured(predicted.meanCertainty())
	}
	if validation != nil {
		m.ValidationAccuracy, m.ValidationLoss = store.Measured(validation.Accuracy), store.Measured(validation.Loss)
	}
	m.Seconds = t.effort.seconds()
	t.record.addEvaluation(m, onTest)
	if !t.curves.Due() { // the end of the run writes them, and checkpoints hold them
		return nil
	}
	return t.writeRecord()
}

// curvesPause is the time between two writings of metrics.csv and its like, each of which
// waits for the disk: small runs make tens of evaluations a second.
const curvesPause = time.Second

// progressPause is the time between two reports of progress.
const progressPause = 200 * time.Millisecond

func (t *trainer) reportProgress() {
	if t.options.Progress == nil || !t.progress.Due() {
		return
	}
	t.options.Progress(plan.Progress{
		Epoch: t.length.epochOf(t.done), Epochs: t.length.epochs, Step: t.done, Steps: t.length.steps(),
		Accuracy: t.record.lastAccuracy(),
	})
}

// updateClassWeights updates them where that is due, records it and says so in the log. A
// run that was interrupted right after that does not repeat it.
func (t *trainer) updateClassWeights(ctx context.Context) error {
	if t.done == 0 || !t.classWeights.due(t.done) || t.record.updatedAfter(t.done) {
		return nil
	}
	var rows *estimationRows
	if t.classWeights.readsHeldOut() {
		t.processes.copyOfFirst(t.model.state())
		var err error
		if rows, err = t.readHeldOut(ctx); err != nil {
			return err
		}
	}
	u, err := t.classWeights.update(rows)
	if err != nil {
		return err
	}
	u.Epoch, u.Step = t.length.epochOf(t.done), t.done
	t.record.addUpdate(u)
	text := fmt.Sprintf("epoch %d: weights %.2f", u.Epoch, u.Weights)
	if !math.IsNaN(u.Distance) {
		text += fmt.Sprintf(", distance to the true ones %.3f", u.Distance)
	}
	if !math.IsNaN(u.SmallestSingular) {
		text += fmt.Sprintf(", smallest singular value of C %.4f", u.SmallestSingular)
	}
	text += fmt.Sprintf(", effective sample size %.3f", u.EffectiveSampleSize)
	if u.Note != "" {
		text += "; " + u.Note
	}
	t.logf("%s", text)
	return nil
}
