package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
)

// restarts are the times at which a run began again with lower learning rates, because a loss
// or gradient was not finite. It begins at its seed, as the epochs before such an end are spoilt
// already; and so what comes out does not depend on when it was interrupted.
type restarts struct {
	most int
	made []checkpoint.Restart
}

// slowdown is what a restart multiplies all learning rates by.
const slowdown = 0.5

// factor is what all learning rates are multiplied by.
func (r *restarts) factor() float64 { return math.Pow(slowdown, float64(len(r.made))) }

func (r *restarts) save(s *saving) { s.Restarts = r.made }

func (r *restarts) restore(from *restoring) error {
	if len(from.Restarts) > r.most {
		return fmt.Errorf("it began again %d times, train.restarts is %d", len(from.Restarts), r.most)
	}
	r.made = from.Restarts
	return nil
}

// explain adds to the error of a run how often it began.
func (r *restarts) explain(err error) error {
	if len(r.made) == 0 {
		return err
	}
	return fmt.Errorf("%w (after %d restarts, with learning rates times %v)", err, len(r.made), r.factor())
}

// completeWithRestarts makes what is left of the run and, where that diverges, all of it
// again.
func (t *trainer) completeWithRestarts(ctx context.Context) (store.Result, error) {
	begin := t.begin
	for {
		result, err := t.complete(ctx, begin)
		reason := (*NotFiniteError)(nil)
		if !errors.As(err, &reason) {
			return result, err
		}
		if len(t.restarts.made) >= t.restarts.most {
			return result, t.restarts.explain(err)
		}
		next, err := newTrainer(ctx, t.run, t.dir, t.options, t.effort.started)
		if err != nil {
			return result, err
		}
		next.startAfter(t, reason)
		t, begin = next, next.beginAgain
	}
}

// startAfter makes t what follows a run that ended for that reason. The time that it took
// counts.
func (t *trainer) startAfter(former *trainer, reason *NotFiniteError) {
	*t.effort = *former.effort
	t.restarts.made = append(slices.Clip(former.restarts.made), checkpoint.Restart{Step: reason.Step, Term: reason.Term})
	t.optimisation.rate *= t.restarts.factor()
	t.logf("step %d: the %s is %v; the run begins again with learning rates times %v",
		reason.Step, reason.Term, reason.Value, t.restarts.factor())
}

// beginAgain begins at the seed and writes down how often the run did.
func (t *trainer) beginAgain() error {
	if err := t.alike(); err != nil {
		return err
	}
	return t.writeCheckpoint()
}
