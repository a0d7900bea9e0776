package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// heldPause is the time between two attempts to take runs that others hold.
const heldPause = time.Second

// take returns the next run, first those that nobody else makes; none if there is none left, or
// ctx was cancelled.
func (s *scheduler) take(ctx context.Context, device string) (j job, ok bool) {
	s.taking.Lock()
	defer s.taking.Unlock()
	for ctx.Err() == nil {
		if len(s.pending) == 0 {
			if len(s.held) == 0 {
				return job{}, false
			}
			select {
			case <-time.After(heldPause):
			case <-ctx.Done():
			}
			s.pending, s.held = s.held, nil
			continue
		}
		i := s.pending[0]
		s.pending = s.pending[1:]
		if lock := s.claim(i); lock != nil {
			return job{index: i, run: s.runs[i], dir: s.runs[i].Dir(s.options.Results), lock: lock, device: device}, true
		}
	}
	return job{}, false
}

// claim takes the lock of a run. It returns nil for a run that another process holds,
// which goes to the end, and for one that has ended in one way or another.
func (s *scheduler) claim(i int) *store.Lock {
	run := s.runs[i]
	dir := run.Dir(s.options.Results)
	if err := s.place.Check(); err != nil { // before the lock makes a folder
		s.refuse(i, Failure{Reason: err.Error(), untouched: true})
		return nil
	}
	if !s.options.Overwrite {
		if err := otherConfiguration(run, dir); err != nil {
			s.refuse(i, Failure{Reason: err.Error(), untouched: true})
			return nil
		}
	}
	lock, err := dir.Lock()
	switch {
	case errors.Is(err, store.ErrLocked):
		if s.ends[i].State != Waiting {
			s.end(i, Update{Run: run, State: Waiting, Reason: err.Error()})
		}
		s.held = append(s.held, i)
		return nil
	case err != nil:
		s.refuse(i, Failure{Reason: err.Error()})
		return nil
	}
	if s.skip(i) { // its former holder finished it
		lock.Close()
		return nil
	}
	return lock
}

// refuse ends a run that cannot start.
func (s *scheduler) refuse(i int, failure Failure) {
	s.observe(Update{Run: s.runs[i], State: Started})
	s.end(i, s.failed(s.runs[i], failure))
}

// failed records a failure in the run's folder and returns the update that tells of it.
func (s *scheduler) failed(run plan.Run, failure Failure) Update {
	dir := run.Dir(s.options.Results)
	failure.Run = run
	if failure.Attempts > 0 {
		failure.Log = dir.Path(store.LogFile)
	}
	if !failure.untouched {
		if err := dir.WriteFailure(failure.Error()); err != nil {
			failure.Reason += "; " + err.Error()
		}
	}
	return Update{Run: run, State: Failed, Failure: failure}
}

// otherConfiguration returns an error if the run's folder holds a result or a
// checkpoint that another configuration gave, which lists how the two differ, or one of
// which that cannot be told.
func otherConfiguration(run plan.Run, dir store.Dir) error {
	const remedy = "choose another folder with -o, or start the run again with --overwrite, which removes what is there"
	differences, err := run.Conflict(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s holds a result or a checkpoint whose configuration cannot be read: %w\n%s", dir, err, remedy)
	case len(differences) > 0:
		return fmt.Errorf("%s holds a result or a checkpoint of another configuration:\n%s\n%s", dir, strings.Join(differences, "\n"), remedy)
	}
	return nil // what cannot be read is made again, and the worker checks the checkpoint
}
