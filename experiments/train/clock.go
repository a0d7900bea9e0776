package train

import (
	"fmt"

	"iwda/experiments/config"
)

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
