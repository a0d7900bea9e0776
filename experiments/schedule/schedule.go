// Package schedule carries out the runs of an experiment on one machine, each in a
// worker process of its own, several at a time.
//
// A crash, an abort in C++ or a lack of memory thus ends one run and not the
// others. Between the scheduler, the parent, and a worker:
//
//   - The parent writes config.yaml into the run's folder and starts the worker
//     with --device, --threads and the folder as last arguments.
//   - The worker's standard input stays open and empty as long as the parent lives.
//     Its end tells the worker to stop at once.
//   - The worker's standard output carries events, written by a Reporter. Lines that
//     are none go to log.txt, as does its standard error.
//   - SIGTERM asks the worker to stop: it writes what it has measured and ends with
//     StoppedStatus. Workers are no members of the parent's process group, so that
//     Ctrl-C at a terminal reaches the parent alone.
package schedule

import (
	"context"
	"errors"
	"sync"

	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// Options say how runs are carried out.
type Options struct {
	// Command starts a worker: a program and its first arguments.
	Command []string
	// Results is the folder below which every run has its own.
	Results string
	// Jobs is the number of runs at a time, at least 1.
	Jobs int
	// Device and Threads are handed to every worker.
	Device  string
	Threads int
	// Kill, once closed, ends all workers at once. It may be nil.
	Kill <-chan struct{}
	// Observe is told of everything that happens, one update at a time. It must not
	// block for long: the workers wait for it.
	Observe func(Update)
}

// Summary is how the runs ended, in the order of the plan.
type Summary struct {
	Skipped  []plan.Run // had been finished before
	Finished []plan.Run
	Failed   []Failure
	Left     []plan.Run // stopped or never started, because the context was cancelled
}

// Run carries out those runs that are not finished yet and returns when the last
// worker has ended. A run that fails leaves error.txt in its folder and does not stop
// the others. Once ctx is cancelled no run starts, and every worker is asked to stop.
func Run(ctx context.Context, runs []plan.Run, options Options) Summary {
	s := &scheduler{options: options, ends: make([]Update, len(runs))}
	var pending []int
	for i, run := range runs {
		result, finished, err := s.dir(run).Finished(run.Config.Hash())
		if err == nil && finished { // a result that cannot be read is made again
			s.end(i, Update{Run: run, State: Skipped, Result: result})
			continue
		}
		s.ends[i] = Update{Run: run, State: Stopped}
		pending = append(pending, i)
	}

	queue := make(chan int, len(pending))
	for _, i := range pending {
		queue <- i
	}
	close(queue)
	var workers sync.WaitGroup
	for range min(options.Jobs, len(pending)) {
		workers.Go(func() {
			for i := range queue {
				if ctx.Err() != nil {
					return
				}
				s.end(i, s.carryOut(ctx, runs[i]))
			}
		})
	}
	workers.Wait()
	return s.summary()
}

type scheduler struct {
	options Options
	ends    []Update // how each run ended, Stopped before

	observing sync.Mutex // held while Observe runs
}

func (s *scheduler) dir(run plan.Run) store.Dir {
	return store.NewDir(s.options.Results, run.Config.Experiment, run.ID.String())
}

func (s *scheduler) observe(u Update) {
	s.observing.Lock()
	defer s.observing.Unlock()
	s.options.Observe(u)
}

func (s *scheduler) end(i int, u Update) {
	s.ends[i] = u
	s.observe(u)
}

// carryOut makes the run and returns how it ended.
func (s *scheduler) carryOut(ctx context.Context, run plan.Run) Update {
	s.observe(Update{Run: run, State: Started})
	dir := s.dir(run)
	result, err := s.work(ctx, run, dir)
	var failure Failure
	switch {
	case err == nil:
		return Update{Run: run, State: Finished, Result: result}
	case errors.Is(err, errStopped):
		return Update{Run: run, State: Stopped}
	case !errors.As(err, &failure):
		failure = Failure{Reason: err.Error()}
	}
	failure.Run, failure.Log = run, dir.Path(store.LogFile)
	if err := dir.WriteFailure(failure.Error()); err != nil {
		failure.Reason += "; " + err.Error()
	}
	return Update{Run: run, State: Failed, Failure: failure}
}

func (s *scheduler) summary() Summary {
	var summary Summary
	for _, end := range s.ends {
		switch end.State {
		case Skipped:
			summary.Skipped = append(summary.Skipped, end.Run)
		case Finished:
			summary.Finished = append(summary.Finished, end.Run)
		case Failed:
			summary.Failed = append(summary.Failed, end.Failure)
		default:
			summary.Left = append(summary.Left, end.Run)
		}
	}
	return summary
}
