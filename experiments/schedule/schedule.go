// Package schedule carries out the runs of an experiment on one machine, each in a
// worker process of its own, several at a time.
//
// A crash, an abort in C++ or a lack of memory thus ends one worker and not the other
// runs. Between the scheduler, the parent, and a worker:
//
//   - The parent takes the run's lock, which the worker inherits: no other parent
//     makes the run as long as one of the two lives.
//   - The parent writes config.yaml into the run's folder and starts the worker
//     with the folder as last argument.
//   - The worker's standard input stays open and empty as long as the parent lives.
//     Its end tells the worker to stop at once.
//   - The worker's standard output carries events, as JSON. Lines that
//     are none go to log.txt, as does its standard error.
//   - SIGTERM asks the worker to stop: it writes what it has measured and ends with
//     StoppedStatus. Workers are no members of the parent's process group, so that
//     Ctrl-C at a terminal reaches the parent alone.
//   - A worker that dies without saying why is followed by another one, which goes on
//     from the run's checkpoint. One that says why it failed would fail again.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/wholefile"
)

// Options say how runs are carried out.
type Options struct {
	// Command is what starts a worker for a run on a device: a program and its first arguments.
	Command func(run plan.Run, device string) []string
	// Results is the folder below which every run has its own.
	Results string
	// Jobs is the number of runs at a time, 0 for what the devices have room for: one on each
	// GPU, or as many as there are cores for with so many Threads.
	Jobs int
	// Devices, of which there is at least one, are shared by the runs at a time: as
	// evenly as their numbers allow. Threads are those of every worker.
	Devices []string
	Threads int
	// Retries is how often a run is started again whose worker died without a word.
	Retries int
	// Overwrite begins runs anew in whose folder there is a result or a checkpoint of
	// another configuration. Otherwise these fail.
	Overwrite bool
	// Needed tells of each run after the first Sure ones whether it is made; nil for all of them. It is asked when none
	// of the others is left to begin and the first has ended.
	Needed func(plan.Run) bool
	Sure   int
	// Kill, once closed, ends all workers at once. It may be nil.
	Kill <-chan struct{}
	// Observe is told of everything that happens, one update at a time. It must not
	// block for long: the workers wait for it.
	Observe func(Update)
}

// Summary is how the runs ended, in the order of the plan.
type Summary struct {
	Skipped  []plan.Run // had been finished before, or by another iwrun meanwhile
	Finished []plan.Run
	Failed   []Failure
	Left     []plan.Run // stopped or never started, because the context was cancelled
	// Undecided tells that it was not known yet which of those that are left are needed.
	Undecided bool
}

// Stopped says how many runs are finished, of how many.
func (s Summary) Stopped() string {
	most := ""
	if s.Undecided {
		most = "at most "
	}
	finished := len(s.Finished) + len(s.Skipped)
	return fmt.Sprintf("Stopped: %d of %s%d runs are finished.", finished, most, finished+len(s.Failed)+len(s.Left))
}

// Print says how many runs ended how, and names those that failed or are left; it says
// nothing if there are none.
func (s Summary) Print(w io.Writer) {
	if len(s.Failed) == 0 && len(s.Left) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d finished, %d finished before, %d failed, %d left\n",
		len(s.Finished), len(s.Skipped), len(s.Failed), len(s.Left))
	told := map[string]plan.Run{} // by the reason
	for _, failure := range s.Failed {
		reason := failure.Error()
		if first, is := told[reason]; is {
			reason = fmt.Sprintf("for the reason of %v", first.ID)
		} else {
			told[reason] = failure.Run
		}
		fmt.Fprintf(w, "failed: %v: %s\n", failure.Run.ID, strings.ReplaceAll(reason, "\n", "\n        | "))
		if failure.Log != "" {
			fmt.Fprintf(w, "        log: %s\n", failure.Log)
		}
	}
	for _, run := range s.Left {
		fmt.Fprintf(w, "left: %v\n", run.ID)
	}
}

// Run carries out those runs that are not finished yet and returns when the last
// worker has ended. Runs that another process makes come last: Run waits until that
// process has finished them or let go of them. A run that fails leaves error.txt in its
// folder and does not stop the others. Once ctx is cancelled no run starts, and every
// worker is asked to stop.
func Run(ctx context.Context, runs []plan.Run, options Options) Summary {
	s := &scheduler{options: options, runs: runs, ends: make([]Update, len(runs))}
	s.undecided.Store(options.Needed != nil && options.Sure < len(runs))
	for i, run := range runs {
		s.ends[i] = Update{Run: run, State: Stopped}
		if !s.skip(i) {
			s.pending = append(s.pending, i)
		}
	}
	if len(s.pending) > 0 && new(wholefile.Disk).MakeFolder(options.Results) == nil { // or each run says why not
		s.place = store.PlaceOf(options.Results)
	}
	var slots sync.WaitGroup
	for slot := range min(options.AtOnce(), len(s.pending)) {
		device := options.Devices[slot%len(options.Devices)]
		slots.Go(func() {
			for {
				j, ok := s.take(ctx, device)
				if !ok {
					return
				}
				s.end(j.index, s.carryOut(ctx, j))
				j.lock.Close()
			}
		})
	}
	slots.Wait()
	return s.summary()
}

type scheduler struct {
	options Options
	runs    []plan.Run
	ends    []Update // how each run ended, Stopped before
	place   store.Place

	taking  sync.Mutex // held while the next run is chosen
	pending []int      // not tried yet
	held    []int      // by other processes

	observing  sync.Mutex  // held while Observe runs
	undecided  atomic.Bool // which runs are needed
	firstEnded atomic.Bool
}

func (s *scheduler) observe(u Update) {
	s.observing.Lock()
	defer s.observing.Unlock()
	u.Undecided = s.undecided.Load()
	s.options.Observe(u)
}

func (s *scheduler) end(i int, u Update) {
	s.ends[i] = u
	s.observe(u)
	if i == 0 && u.State != Waiting && u.State != Stopped {
		s.firstEnded.Store(true)
	}
}

// skip ends the run if it is finished already.
func (s *scheduler) skip(i int) bool {
	run := s.runs[i]
	result, finished := run.Finished(s.options.Results)
	if finished {
		s.end(i, Update{Run: run, State: Skipped, Result: result})
	}
	return finished
}

func (s *scheduler) summary() Summary {
	summary := Summary{Undecided: s.undecided.Load()}
	for _, end := range s.ends {
		switch end.State {
		case Skipped:
			summary.Skipped = append(summary.Skipped, end.Run)
		case Finished:
			summary.Finished = append(summary.Finished, end.Run)
		case Failed:
			summary.Failed = append(summary.Failed, end.Failure)
		case NotNeeded:
		default:
			summary.Left = append(summary.Left, end.Run)
		}
	}
	return summary
}

// State is where a run is.
type State int

// The states. A run is Skipped, perhaps after it was Waiting, or it is Started,
// Running for any number of updates, which begin anew each time it is started Again,
// and then Finished, Failed or Stopped. Or it is NotNeeded.
const (
	Skipped State = iota // had been finished before, or by another iwrun meanwhile
	Waiting              // for another iwrun, which makes this run
	Started
	Running
	Again // its worker died, another one goes on
	Finished
	Failed
	Stopped   // asked to stop before its end
	NotNeeded // see Options.Needed
)

// Update is something that happened to a run.
type Update struct {
	Run      plan.Run
	State    State
	Reason   string        // if Waiting or Again
	Attempt  int           // if Again: the number of the worker that starts, from 2
	Attempts int           // if Again: the number of workers that may be started in all
	Progress plan.Progress // if Running
	Result   store.Result  // if Finished or Skipped
	Failure  Failure       // if Failed
	// Undecided tells that it is not known yet which runs are needed.
	Undecided bool
}

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
		if i >= s.options.Sure && s.undecided.Load() {
			s.held = append(s.held, i)
			if s.firstEnded.Load() {
				s.decide()
			}
			continue
		}
		if lock := s.claim(i); lock != nil {
			return job{index: i, run: s.runs[i], dir: s.runs[i].Dir(s.options.Results), lock: lock, device: device}, true
		}
	}
	return job{}, false
}

// decide ends the runs that are not needed.
func (s *scheduler) decide() {
	left := append(s.held, s.pending...)
	s.pending, s.held = nil, nil
	s.undecided.Store(false)
	for _, i := range left {
		if i < s.options.Sure || s.options.Needed(s.runs[i]) {
			s.pending = append(s.pending, i)
		} else {
			s.end(i, Update{Run: s.runs[i], State: NotNeeded})
		}
	}
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
