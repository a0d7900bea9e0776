package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

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

// errStopped is the error of a run whose worker stopped because it was asked to.
var errStopped = errors.New("stopped")

// worker is a process that makes a run.
type worker struct {
	job
	command *exec.Cmd
	output  io.Reader
	log     *os.File
	said    int64 // where in the log its words begin

	dog   watchdog
	lost  atomic.Bool // its folder was taken away
	last  event       // that spoke of the end of the run
	ended chan struct{}
}

// work makes the run in a worker process; the reason stands in a log that has lines
// already. The error is a Failure, errStopped, or what the disk refused.
func (s *scheduler) work(ctx context.Context, j job, reason string) (store.Result, error) {
	w := &worker{job: j, ended: make(chan struct{})}
	if err := w.prepare(reason); err != nil {
		return store.Result{}, err
	}
	defer w.log.Close()
	if err := s.start(w); err != nil {
		return store.Result{}, Failure{Reason: fmt.Sprintf("cannot start a worker: %v", err), died: true}
	}
	go s.attend(ctx, w)
	go w.dog.guard(s.options.Stall, w.command.Process, w.ended)
	w.last = readEvents(w.output, w.log, func(e event) { s.hear(w, e) })
	err := w.command.Wait()
	close(w.ended)
	s.listen(w.command.Process, false)
	return s.conclude(ctx, w, err)
}

// prepare makes the run's folder ready and opens the log.
func (w *worker) prepare(reason string) (err error) {
	if err := w.dir.Begin(); err != nil {
		return err
	}
	if w.log, w.said, err = openLog(w.dir, reason); err != nil {
		return err
	}
	if err := writeConfig(w.run, w.dir); err != nil {
		w.log.Close()
		return err
	}
	return nil
}

func writeConfig(run plan.Run, dir store.Dir) error {
	yaml, err := run.Config.YAML()
	if err != nil {
		return err
	}
	return dir.WriteConfig(yaml)
}

// start starts the process.
func (s *scheduler) start(w *worker) (err error) {
	threads := strconv.Itoa(s.options.Threads)
	arguments := append([]string{}, s.options.Command[1:]...)
	arguments = append(arguments, "--device", w.device, "--threads", threads, w.dir.String())
	w.command = exec.Command(s.options.Command[0], arguments...)
	w.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.command.Env = Environment(s.options.Threads)
	w.command.Stderr = w.log
	w.command.ExtraFiles = []*os.File{w.lock.File()}
	// Nothing is written to it, and Wait closes it.
	if _, err = w.command.StdinPipe(); err != nil {
		return err
	}
	if w.output, err = w.command.StdoutPipe(); err != nil {
		return err
	}
	return w.command.Start()
}

// hear takes note of an event.
func (s *scheduler) hear(w *worker, e event) {
	w.dog.alive.Store(true)
	s.listen(w.command.Process, true)
	if e.Kind == progressEvent {
		s.observe(Update{Run: w.run, State: Running, Progress: e.progress()})
	}
}

// folderCheck is the time between two looks whether the run's folder is still there.
const folderCheck = 2 * time.Second

// attend asks the worker to stop when ctx is cancelled, and ends it when Kill is closed
// or its folder was deleted: another process may make the run there by now.
func (s *scheduler) attend(ctx context.Context, w *worker) {
	process, stop := w.command.Process, ctx.Done()
	check := time.NewTicker(folderCheck)
	defer check.Stop()
	for {
		select {
		case <-stop:
			process.Signal(syscall.SIGTERM)
			stop = nil
		case <-s.options.Kill:
			process.Kill()
			return
		case <-check.C:
			if !w.lock.Held() {
				w.lost.Store(true)
				process.Kill()
				return
			}
		case <-w.ended:
			return
		}
	}
}

// conclude returns the result of a worker that has ended, or what became of it; err is
// what Wait returned.
func (s *scheduler) conclude(ctx context.Context, w *worker, err error) (store.Result, error) {
	if w.last.Kind == failedEvent {
		return store.Result{}, Failure{Reason: w.last.Reason}
	}
	// A worker that dies after its result is written has finished the run.
	result, finished, readErr := w.dir.Finished(w.run.Config.Hash())
	state := w.command.ProcessState
	switch {
	case w.lost.Load():
		return store.Result{}, Failure{Reason: "the run's folder was deleted or replaced while it ran", untouched: true}
	case finished:
		return result, nil
	case w.dog.bitten.Load():
		return store.Result{}, w.death(silence(s.options.Stall))
	case ctx.Err() != nil && stoppedAsAsked(state):
		return store.Result{}, errStopped
	case err == nil && readErr != nil:
		return store.Result{}, fmt.Errorf("the worker's result cannot be read: %w", readErr)
	}
	return store.Result{}, w.death(describe(state))
}

// death is the failure of a worker that ended without saying why.
func (w *worker) death(reason string) Failure {
	return Failure{Reason: reason, LogEnd: logEnd(w.log.Name(), w.said), died: true}
}

// stoppedAsAsked reports whether a worker ended as one that was asked to does, also
// one that was asked before it could listen or that had to be killed.
func stoppedAsAsked(state *os.ProcessState) bool {
	if signal, ok := deathSignal(state); ok {
		return signal == syscall.SIGTERM || signal == syscall.SIGKILL
	}
	return state.ExitCode() == StoppedStatus
}

// deathSignal returns the signal that ended the process, if one did.
func deathSignal(state *os.ProcessState) (syscall.Signal, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	return status.Signal(), ok && status.Signaled()
}

// listen notes whether the worker can be asked for a checkpoint. Before its first event
// the signal might end it.
func (s *scheduler) listen(process *os.Process, listens bool) {
	s.listing.Lock()
	defer s.listing.Unlock()
	if listens {
		s.listening[process] = true
	} else {
		delete(s.listening, process)
	}
}

// passOnCheckpoints asks every worker for a checkpoint whenever that is wanted.
func (s *scheduler) passOnCheckpoints(ended <-chan struct{}) {
	for {
		select {
		case <-s.options.Checkpoint:
		case <-ended:
			return
		}
		s.listing.Lock()
		for process := range s.listening {
			process.Signal(syscall.SIGUSR1)
		}
		s.listing.Unlock()
	}
}

// threadVariables limit the threads of the libraries below libtorch, which read them
// when they are loaded.
var threadVariables = []string{"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}

// Environment returns the environment of a worker of that many threads: this process's,
// but for the numbers of threads.
func Environment(threads int) []string {
	environment := os.Environ()
	for _, name := range threadVariables {
		environment = append(environment, name+"="+strconv.Itoa(threads))
	}
	return environment
}
