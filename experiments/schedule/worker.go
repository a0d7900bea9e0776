package schedule

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"iwda/experiments/engine"
	"iwda/experiments/store"
	"iwda/internal/system"
)

// worker is a process that makes a run.
type worker struct {
	job
	log     *os.File
	said    int64 // where in the log the worker's words begin
	command *exec.Cmd
	input   io.Closer
	output  io.Reader
	ended   chan struct{}

	lost    atomic.Bool // its folder was taken away
	failure *Failure    // that the worker told
}

// work makes a run in a worker process; the reason stands in a log that has lines already. Its
// error is a Failure, errStopped or what the disk refused.
func (s *scheduler) work(ctx context.Context, j job, reason string) (store.Result, error) {
	w := &worker{job: j, ended: make(chan struct{})}
	if err := w.prepare(reason); err != nil {
		return store.Result{}, err
	}
	defer w.log.Close()
	if err := w.start(s.options); err != nil {
		return store.Result{}, Failure{Reason: fmt.Sprintf("cannot start a worker: %v", err), died: true}
	}
	go s.attend(ctx, w)
	readEvents(w.output, w.log, func(e event) { s.hear(w, e) })
	err := w.command.Wait()
	close(w.ended)
	return s.endOf(ctx, w, err)
}

// prepare makes the run's folder ready and opens the log.
func (w *worker) prepare(reason string) (err error) {
	if err := w.dir.Begin(); err != nil {
		return err
	}
	if w.log, w.said, err = openLog(w.dir, reason); err != nil {
		return err
	}
	if err := w.run.WriteConfig(w.dir); err != nil {
		w.log.Close()
		return err
	}
	return nil
}

// start starts the process.
func (w *worker) start(o Options) (err error) {
	words := append(o.Command(w.run, w.device), w.dir.String())
	w.command = exec.Command(words[0], words[1:]...)
	system.Apart(w.command, w.lock.File())
	w.command.Env = Environment(o.Threads)
	w.command.Stderr = w.log
	// Nothing is written to it, and Wait closes it.
	if w.input, err = w.command.StdinPipe(); err != nil {
		return err
	}
	if w.output, err = w.command.StdoutPipe(); err != nil {
		return err
	}
	return w.command.Start()
}

// hear takes note of an event.
func (s *scheduler) hear(w *worker, e event) {
	switch e.Kind {
	case progressEvent:
		s.observe(Update{Run: w.run, State: Running, Progress: e.Progress})
	case failedEvent:
		w.failure = &Failure{Reason: e.Reason}
	}
}

// folderCheck is the time between two looks whether the run's folder is still there.
const folderCheck = 2 * time.Second

// attend asks the worker to stop when ctx is cancelled, and ends it when Kill is closed
// or the run's folder was deleted: another process may make the run there by now.
func (s *scheduler) attend(ctx context.Context, w *worker) {
	process, stop := w.command.Process, ctx.Done()
	check := time.NewTicker(folderCheck)
	defer check.Stop()
	for {
		select {
		case <-stop:
			system.Stop(process, w.input)
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

// endOf returns the result of a run whose worker has ended, or what became of it; err is
// what Wait returned.
func (s *scheduler) endOf(ctx context.Context, w *worker, err error) (store.Result, error) {
	if w.failure != nil {
		return store.Result{}, *w.failure
	}
	// A worker that dies after its result is written has finished the run.
	result, finished, readErr := w.dir.Finished(w.run.Config.Hash())
	state := w.command.ProcessState
	switch {
	case w.lost.Load():
		return store.Result{}, Failure{Reason: "the run's folder was deleted or replaced while it ran", untouched: true}
	case finished:
		return result, nil
	case ctx.Err() != nil && stoppedAsAsked(state):
		return store.Result{}, errStopped
	case err == nil && readErr != nil:
		return store.Result{}, fmt.Errorf("the worker's result cannot be read: %w", readErr)
	}
	return store.Result{}, w.death(describe(state))
}

// death is the failure of a worker that ended without saying why. After a Go panic, which comes again at
// the same place, no other worker does better.
func (w *worker) death(reason string) Failure {
	f := Failure{Reason: reason, LogEnd: logEnd(w.log.Name(), w.said)}
	f.died = len(f.LogEnd) == 0 || !strings.HasPrefix(f.LogEnd[0], goPanic)
	return f
}

// stoppedAsAsked reports whether a worker ended as one that was asked to does, also
// one that was asked before it could listen or that had to be killed.
func stoppedAsAsked(state *os.ProcessState) bool {
	if signal, ok := engine.DeathSignal(state); ok {
		return signal == syscall.SIGTERM || signal == syscall.SIGHUP || signal == syscall.SIGKILL
	}
	return state.ExitCode() == StoppedStatus
}

// threadVariables limit the threads of the libraries below libtorch, which read them
// when they are loaded.
var threadVariables = []string{"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}

// arenas has all of a worker's threads take memory from glibc's main arena unless the user
// says otherwise. Arenas of threads hold no block above 64 MiB and unmap each of their pieces
// as soon as it is empty, so that training pays for page faults at every step. It must hold
// before the first thread starts, so the worker cannot set it for itself.
const arenas = "MALLOC_ARENA_MAX"

// Environment returns the environment of a worker of that many threads: this process's,
// but for the numbers of threads and of arenas.
func Environment(threads int) []string {
	environment := os.Environ()
	for _, name := range threadVariables {
		environment = append(environment, name+"="+strconv.Itoa(threads))
	}
	if os.Getenv(arenas) == "" {
		environment = append(environment, arenas+"=1")
	}
	return environment
}
