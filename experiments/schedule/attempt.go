package schedule

import (
	"context"
	"errors"
	"fmt"

	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// job is a run on its way.
type job struct {
	run    plan.Run
	dir    store.Dir
	lock   *store.Lock
	device string
}

// carryOut makes the run with as many workers as it takes and may take. It returns how
// the run ended, and lets go of its lock.
func (s *scheduler) carryOut(ctx context.Context, j job) Update {
	defer j.lock.Close()
	s.observe(Update{Run: j.run, State: Started})
	if err := s.makeWay(j); err != nil {
		return s.failed(j.run, Failure{Reason: err.Error(), untouched: true})
	}
	attempts := 1 + s.options.Retries
	reason := "started once more"
	for attempt := 1; ; attempt++ {
		result, err := s.work(ctx, j, reason)
		var failure Failure
		switch {
		case err == nil:
			return Update{Run: j.run, State: Finished, Result: result}
		case errors.Is(err, errStopped):
			return Update{Run: j.run, State: Stopped}
		case !errors.As(err, &failure):
			failure = Failure{Reason: err.Error()}
		}
		failure.Attempts = attempt
		if !failure.died || attempt == attempts || ctx.Err() != nil {
			return s.failed(j.run, failure)
		}
		reason = fmt.Sprintf("attempt %d of %d, because %s", attempt+1, attempts, failure.Reason)
		s.observe(Update{Run: j.run, State: Again, Reason: failure.Reason, Attempt: attempt + 1, Attempts: attempts})
	}
}

// makeWay removes what another configuration left, where that is wanted. Another
// process may have left it after claim had looked.
func (s *scheduler) makeWay(j job) error {
	err := otherConfiguration(j.run, j.dir)
	if err == nil || !s.options.Overwrite {
		return err
	}
	return j.dir.Clear()
}
