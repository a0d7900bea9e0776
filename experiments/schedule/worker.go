package schedule

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"iwda/experiments/store"
)

// worker is a process that makes runs.
type worker struct {
	runs    []*workerRun
	command *exec.Cmd
	output  io.Reader
	logs    io.Writer // all of them
	ended   chan struct{}
}

// workerRun is a run that a worker makes.
type workerRun struct {
	job
	ending *ending
	log    *os.File
	said   int64 // where in the log the worker's words begin

	dog  watchdog
	lost atomic.Bool // its folder was taken away
	last event       // that spoke of the end of the run
}

// over reports whether the worker has said how the run ended.
func (r *workerRun) over() bool { return r.last.Kind != "" }

// work makes runs in a worker process; the reason stands in a log that has lines already.
func (s *scheduler) work(ctx context.Context, jobs []job, reason string) []ending {
	endings := make([]ending, len(jobs))
	w := &worker{ended: make(chan struct{})}
	var logs []io.Writer
	for i, j := range jobs {
		r := &workerRun{job: j, ending: &endings[i]}
		if r.ending.err = r.prepare(reason); r.ending.err != nil {
			continue
		}
		defer r.log.Close()
		w.runs, logs = append(w.runs, r), append(logs, r.log)
	}
	if len(w.runs) == 0 {
		return endings
	}
	w.logs = io.MultiWriter(logs...)
	if err := s.start(w); err != nil {
		for _, r := range w.runs {
			r.ending.err = Failure{Reason: fmt.Sprintf("cannot start a worker: %v", err), died: true}
		}
		return endings
	}
	go s.attend(ctx, w)
	for _, r := range w.runs {
		go r.dog.guard(s.options.Stall, w.command.Process, w.ended)
	}
	readEvents(w.output, w.logs, func(e event) { s.hear(w, e) })
	err := w.command.Wait()
	close(w.ended)
	s.listening.Delete(w.command.Process)
	for _, r := range w.runs {
		r.ending.result, r.ending.err = s.endOf(ctx, w, r, err)
	}
	return endings
}

// prepare makes the run's folder ready and opens the log.
func (r *workerRun) prepare(reason string) (err error) {
	if err := r.dir.Begin(); err != nil {
		return err
	}
	if r.log, r.said, err = openLog(r.dir, reason); err != nil {
		return err
	}
	if err := r.run.WriteConfig(r.dir); err != nil {
		r.log.Close()
		return err
	}
	return nil
}

// start starts the process.
func (s *scheduler) start(w *worker) (err error) {
	threads := strconv.Itoa(s.options.Threads)
	arguments := append([]string{}, s.options.Command[1:]...)
	arguments = append(arguments, "--device", w.runs[0].device, "--threads", threads)
	var locks []*os.File
	for _, r := range w.runs {
		arguments, locks = append(arguments, r.dir.String()), append(locks, r.lock.File())
	}
	w.command = exec.Command(s.options.Command[0], arguments...)
	w.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.command.Env = Environment(s.options.Threads)
	w.command.Stderr = w.logs
	if len(w.runs) == 1 { // directly: it is whole then, whatever becomes of this process
		w.command.Stderr = w.runs[0].log
	}
	w.command.ExtraFiles = locks
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
	if e.Run < 0 || e.Run >= len(w.runs) {
		return
	}
	r := w.runs[e.Run]
	for _, other := range w.runs {
		if other == r || other.over() { // nothing more is to be heard of that one
			other.dog.alive.Store(true)
		}
	}
	// It can be asked for checkpoints now; before its first event the signal might end it.
	s.listening.Store(w.command.Process, nil)
	switch e.Kind {
	case progressEvent:
		s.observe(Update{Run: r.run, State: Running, Progress: e.Progress})
	case doneEvent, failedEvent:
		r.last = e
	case logEvent:
		io.WriteString(r.log, e.Text)
	}
}

// folderCheck is the time between two looks whether the run's folder is still there.
const folderCheck = 2 * time.Second

// attend asks the worker to stop when ctx is cancelled, and ends it when Kill is closed
// or a run's folder was deleted: another process may make the run there by now.
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
			for _, r := range w.runs {
				if !r.lock.Held() {
					r.lost.Store(true)
					process.Kill()
					return
				}
			}
		case <-w.ended:
			return
		}
	}
}

// endOf returns the result of a run whose worker has ended, or what became of it; err is
// what Wait returned.
func (s *scheduler) endOf(ctx context.Context, w *worker, r *workerRun, err error) (store.Result, error) {
	if r.last.Kind == failedEvent {
		return store.Result{}, Failure{Reason: r.last.Reason}
	}
	// A worker that dies after its result is written has finished the run.
	result, finished, readErr := r.dir.Finished(r.run.Config.Hash())
	state := w.command.ProcessState
	switch {
	case r.lost.Load():
		return store.Result{}, Failure{Reason: "the run's folder was deleted or replaced while it ran", untouched: true}
	case finished:
		return result, nil
	case r.dog.bitten.Load():
		return store.Result{}, r.death(silence(s.options.Stall))
	case ctx.Err() != nil && stoppedAsAsked(state):
		return store.Result{}, errStopped
	case err == nil && readErr != nil:
		return store.Result{}, fmt.Errorf("the worker's result cannot be read: %w", readErr)
	}
	if cause := w.endedFor(); cause != "" {
		return store.Result{}, Failure{Reason: cause, died: true}
	}
	return store.Result{}, r.death(describe(state))
}

// endedFor says for which run the worker was ended, if it was.
func (w *worker) endedFor() string {
	for _, r := range w.runs {
		if r.lost.Load() || r.dog.bitten.Load() {
			return fmt.Sprintf("the worker was ended for another run that it made, %s", r.run.ID)
		}
	}
	return ""
}

// death is the failure of a worker that ended without saying why.
func (r *workerRun) death(reason string) Failure {
	return Failure{Reason: reason, LogEnd: logEnd(r.log.Name(), r.said), died: true}
}

// stoppedAsAsked reports whether a worker ended as one that was asked to does, also
// one that was asked before it could listen or that had to be killed.
func stoppedAsAsked(state *os.ProcessState) bool {
	if signal, ok := deathSignal(state); ok {
		return signal == syscall.SIGTERM || signal == syscall.SIGHUP || signal == syscall.SIGKILL
	}
	return state.ExitCode() == StoppedStatus
}

// deathSignal returns the signal that ended the process, if one did.
func deathSignal(state *os.ProcessState) (syscall.Signal, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	return status.Signal(), ok && status.Signaled()
}

// passOnCheckpoints asks every worker for a checkpoint whenever that is wanted.
func (s *scheduler) passOnCheckpoints(ended <-chan struct{}) {
	for {
		select {
		case <-s.options.Checkpoint:
		case <-ended:
			return
		}
		for process := range s.listening.Range {
			process.(*os.Process).Signal(syscall.SIGUSR1)
		}
	}
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
