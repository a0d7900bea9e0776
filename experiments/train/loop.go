package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"iwda/experiments/config"
	"iwda/experiments/measure"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/convert"
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
		checkpoint := t.checkpoints.due(t.clock.atEpoch())
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
		m := t.capturer.step(in, aligned, rates, coefficients)
		t.readings.add(p, m, convert.Slice[int](b.labels))
		if t.readings.full() {
			err = t.readSteps()
		} else {
			torch.Keep(m.values) // for those that come after it
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
	if len(t.record.metrics) > 0 && t.record.last().Step == t.clock.done {
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
		Seconds:      t.effort.seconds(),
	}
	t.classWeights.Describe(&m)
	seen.Describe(&m)
	t.record.addEvaluation(m, seen.OnTest)
	if !t.record.curves.Due() { // the end of the run writes, and checkpoints hold what was measured
		return nil
	}
	return t.record.write()
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
	made := t.record.updates
	if done == 0 || !t.classWeights.due(done) || len(made) > 0 && made[len(made)-1].Step == done {
		return nil
	}
	updates, err := t.classWeights.update(done)
	if err != nil {
		return err
	}
	for _, u := range updates {
		u.Epoch = t.clock.epochOf(done)
		t.record.updates = append(t.record.updates, u)
		t.options.logf("%s", inWords(u))
	}
	return nil
}

// clock is how far a run is. The epochs of one that counts steps lie between two
// evaluations.
type clock struct {
	epochs, stepsPerEpoch int // of the whole run
	done                  int // steps
}

// newClock returns that of a run of which a pass over the source takes passSteps.
func newClock(t config.Train, passSteps int) *clock {
	if t.Steps > 0 {
		passSteps = t.EvalEvery
	}
	return &clock{epochs: t.Evaluations(), stepsPerEpoch: passSteps}
}

// steps is the number of those of the whole run.
func (c *clock) steps() int { return c.epochs * c.stepsPerEpoch }

// atEpoch reports whether an epoch begins or ends.
func (c *clock) atEpoch() bool { return c.done%c.stepsPerEpoch == 0 }

// epochOf is the epoch, from 1, of a step, from 1.
func (c *clock) epochOf(step int) int { return 1 + (step-1)/c.stepsPerEpoch }

// next is where the next step is made.
func (c *clock) next() position { return position{epoch: c.epochOf(c.done + 1), step: c.done} }

// after puts the place and what was done there before an error.
func (c *clock) after(what string, err error) error {
	return fmt.Errorf("epoch %d, after step %d: %s: %w", c.epochOf(max(1, c.done)), c.done, what, err)
}

func (c *clock) save(s *saving) { s.Step = c.done }

func (c *clock) restore(r *restoring) error {
	first := 1
	if len(r.Restarts) > 0 {
		first = 0
	}
	if r.Step < first || r.Step > c.steps() {
		return fmt.Errorf("its step is %d of %d", r.Step, c.steps())
	}
	c.done = r.Step
	return nil
}

// position is where in a run a step is made.
type position struct {
	epoch int // from 1
	step  int // steps made before
}

// failed puts the place before an error of the step.
func (p position) failed(err error) error {
	return fmt.Errorf("epoch %d, step %d: %w", p.epoch, p.step+1, err)
}

// capturer makes the steps of a run: each as it is, or as work that a GPU has captured and is
// asked for as a whole.
type capturer struct {
	on      bool
	device  torch.Device
	random  *torch.Random // what dropout draws from
	compute func(in stepInputs, aligned bool, rates, coefficients []torch.Coefficient) measures
	steps   map[bool]*capturedStep // with and without the domain loss
}

// step makes a step on these inputs with these learning rates and coefficients.
func (c *capturer) step(in stepInputs, aligned bool, rates, coefficients []float64) measures {
	values := slices.Concat(rates, coefficients, []float64{c.seed()})
	body := func(in stepInputs, k []torch.Coefficient) (m measures) {
		seed := len(k) - 1
		c.drawing(k[seed], func() { m = c.compute(in, aligned, k[:len(rates)], k[len(rates):seed]) })
		return m
	}
	if !c.on {
		return body(in, numbers(values))
	}
	if c.steps[aligned] == nil {
		c.steps[aligned] = newCapturedStep(in, len(values), c.device, body)
	}
	return c.steps[aligned].run(in, values)
}

// seed is what a step's dropout follows from on a GPU, where it may be captured.
func (c *capturer) seed() float64 {
	if c.device.IsCUDA() {
		return c.random.DeviceSeed()
	}
	return 0
}

// drawing makes a step with that seed.
func (c *capturer) drawing(seed torch.Coefficient, step func()) {
	if c.device.IsCUDA() {
		c.random.UseSeed(seed, step)
	} else {
		c.random.Use(step)
	}
}

func (c *capturer) close() {
	for _, step := range c.steps {
		step.graph.Close()
	}
}

func numbers(values []float64) []torch.Coefficient { return convert.Each(values, torch.Number) }

// capturedStep is a step whose inputs and numbers have places on the device, to which those
// of every step are copied.
type capturedStep struct {
	in      stepInputs
	numbers torch.Tensor // learning rates, coefficients and the seed
	graph   *torch.Graph
	last    measures // but for their values
}

func newCapturedStep(like stepInputs, count int, device torch.Device, body func(stepInputs, []torch.Coefficient) measures) *capturedStep {
	place := func(like torch.Tensor) torch.Tensor { return torch.Keep(like.Clone()) }
	s := &capturedStep{
		in:      stepInputs{place(like.source), place(like.target), place(like.labels)},
		numbers: torch.Keep(torch.Full(0, torch.Float64, device, count)),
	}
	scalars := make([]torch.Coefficient, count)
	for i := range scalars {
		scalars[i] = torch.Scalar(torch.Keep(s.numbers.Narrow(0, i, 1).Reshape()))
	}
	s.graph = torch.NewGraph(device, func() torch.Tensor {
		s.last = body(s.in, scalars)
		return s.last.values
	})
	return s
}

func (s *capturedStep) run(in stepInputs, numbers []float64) measures {
	for _, of := range []struct{ place, values torch.Tensor }{
		{s.in.source, in.source}, {s.in.target, in.target}, {s.in.labels, in.labels},
		{s.numbers, torch.Upload(numbers, s.numbers.Device(), len(numbers))},
	} {
		of.place.Set(of.values)
	}
	values := s.graph.Run()
	m := s.last
	m.values = values.Clone() // the next step overwrites them
	return m
}
