package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// job is a run on its way.
type job struct {
	index  int // in the plan
	run    plan.Run
	dir    store.Dir
	lock   *store.Lock
	device string
}

// carryOut makes runs in one worker, and those that it leaves in one each: with as many
// workers as they take and may take. It says how they ended, and lets go of their locks.
func (s *scheduler) carryOut(ctx context.Context, jobs []job) {
	var ready []job
	for _, j := range jobs {
		s.observe(Update{Run: j.run, State: Started})
		if err := s.makeWay(j); err != nil {
			s.conclude(j, s.failed(j.run, Failure{Reason: err.Error(), untouched: true}))
			continue
		}
		ready = append(ready, j)
	}
	if len(ready) == 0 {
		return
	}
	endings := s.work(ctx, ready, "started once more")
	var alone sync.WaitGroup
	for i, j := range ready {
		alone.Go(func() { s.conclude(j, s.goOn(ctx, j, endings[i])) })
	}
	alone.Wait()
}

// conclude says how a run ended, and lets go of its lock.
func (s *scheduler) conclude(j job, u Update) {
	s.end(j.index, u)
	j.lock.Close()
}

// ending is how a worker ended a run: with a result or an error, a Failure, errStopped or
// what the disk refused.
type ending struct {
	result store.Result
	err    error
}

// goOn makes what a first worker left of a run in further ones, and returns how the run
// ended.
func (s *scheduler) goOn(ctx context.Context, j job, former ending) Update {
	attempts := 1 + s.options.Retries
	for attempt := 1; ; attempt++ {
		var failure Failure
		switch {
		case former.err == nil:
			return Update{Run: j.run, State: Finished, Result: former.result}
		case errors.Is(former.err, errStopped):
			return Update{Run: j.run, State: Stopped}
		case !errors.As(former.err, &failure):
			failure = Failure{Reason: former.err.Error()}
		}
		failure.Attempts = attempt
		if !failure.died || attempt == attempts || ctx.Err() != nil {
			return s.failed(j.run, failure)
		}
		reason := fmt.Sprintf("attempt %d of %d, because %s", attempt+1, attempts, failure.Reason)
		s.observe(Update{Run: j.run, State: Again, Reason: failure.Reason, Attempt: attempt + 1, Attempts: attempts})
		former = s.work(ctx, []job{j}, reason)[0]
	}
}

// makeWay removes what another configuration left, if that is wanted.
func (s *scheduler) makeWay(j job) error {
	err := otherConfiguration(j.run, j.dir)
	if err == nil || !s.options.Overwrite {
		return err
	}
	return j.dir.Clear()
}

// errStopped is the error of a run whose worker stopped because it was asked to.
var errStopped = errors.New("stopped")

// Failure is a run that failed.
type Failure struct {
	Run    plan.Run
	Reason string
	// Attempts is the number of workers that were started.
	Attempts int
	// LogEnd are the last lines of the log where the worker died without a word.
	LogEnd []string
	Log    string // path of log.txt; empty if no worker was started, which would have written it

	died      bool // without saying why, so that another worker may do better
	untouched bool // the folder is to stay as it is
}

// Error returns the reason, the attempts if there were several, and the end of the log. It
// doesn't name the run.
func (f Failure) Error() string {
	reason := f.Reason
	if f.Attempts > 1 {
		first, rest, _ := strings.Cut(reason, "\n")
		reason = strings.TrimSpace(fmt.Sprintf("%s (%d attempts)\n%s", first, f.Attempts, rest))
	}
	return strings.Join(append([]string{reason}, f.LogEnd...), "\n")
}

// describe says how a worker ended that did not say itself why it failed.
func describe(state *os.ProcessState) string {
	signal, died := deathSignal(state)
	switch {
	case died && signal == syscall.SIGKILL:
		return "the worker was killed (signal 9), as the system does when memory runs out"
	case died:
		return fmt.Sprintf("the worker died of signal %d (%v)", signal, signal)
	case state.ExitCode() == StoppedStatus:
		return "the worker was stopped by someone else"
	case !state.Success():
		return fmt.Sprintf("the worker ended with exit status %d", state.ExitCode())
	}
	return "the worker ended without a result"
}
