package train

import (
	"context"
	"fmt"
)

// Position is how far a run has come.
type Position struct {
	Epoch int // the current epoch, from 1; 0 before the first
	Step  int // steps completed
}

// Loop makes the steps of a run, epoch by epoch, and calls the hooks. All duties but
// the step itself are hooks; those of one moment run in the order in which they were
// added.
type Loop struct {
	Epochs, StepsPerEpoch int
	// Done is the number of steps that an interrupted run had completed, 0 for a new
	// one. Hooks of moments that lie before are not called again, those of the start
	// and those after the last completed step, in case it ended an epoch, are.
	Done int
	// Step makes the step that follows the position.
	Step func(Position) error

	start, epochStart, afterStep, end []hook
}

type hook struct {
	name string
	call func(Position) error
}

// OnStart adds a hook that is called before the first epoch.
func (l *Loop) OnStart(name string, call func(Position) error) {
	l.start = append(l.start, hook{name, call})
}

// OnEpochStart adds a hook that is called before each epoch's first step.
func (l *Loop) OnEpochStart(name string, call func(Position) error) {
	l.epochStart = append(l.epochStart, hook{name, call})
}

// OnStep adds a hook that is called after each step.
func (l *Loop) OnStep(name string, call func(Position) error) {
	l.afterStep = append(l.afterStep, hook{name, call})
}

// OnEnd adds a hook that is called after the last epoch.
func (l *Loop) OnEnd(name string, call func(Position) error) {
	l.end = append(l.end, hook{name, call})
}

// Run makes all steps. It stops between two steps when the context is cancelled, and
// at the first error, which then names the position and the hook.
func (l *Loop) Run(ctx context.Context) error {
	if err := callAll(l.start, Position{}); err != nil {
		return err
	}
	p := Position{Epoch: 1 + l.Done/l.StepsPerEpoch, Step: l.Done}
	for ; p.Epoch <= l.Epochs; p.Epoch++ {
		before := p.Step % l.StepsPerEpoch // of this epoch, completed by the interrupted run
		if before == 0 {
			if err := callAll(l.epochStart, p); err != nil {
				return err
			}
		}
		for range l.StepsPerEpoch - before {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := l.Step(p); err != nil {
				return fmt.Errorf("epoch %d, step %d: %w", p.Epoch, p.Step+1, err)
			}
			p.Step++
			if err := callAll(l.afterStep, p); err != nil {
				return err
			}
		}
	}
	p.Epoch = l.Epochs
	return callAll(l.end, p)
}

func callAll(hooks []hook, p Position) error {
	for _, h := range hooks {
		if err := h.call(p); err != nil {
			return fmt.Errorf("epoch %d, after step %d: %s: %w", p.Epoch, p.Step, h.name, err)
		}
	}
	return nil
}
