package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// errStopped is the error of a run whose worker stopped because it was asked to.
var errStopped = errors.New("stopped")

// threadVariables limit the threads of the libraries below libtorch, which read them
// when they are loaded.
var threadVariables = []string{"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}

// work makes the run in a worker process. The error is a Failure, errStopped, or
// what kept the worker from starting.
func (s *scheduler) work(ctx context.Context, run plan.Run, dir store.Dir) (store.Result, error) {
	log, err := prepare(run, dir)
	if err != nil {
		return store.Result{}, err
	}
	defer log.Close()

	command := s.command(dir)
	command.Stderr = log
	// Nothing is written to it, and Wait closes it.
	if _, err := command.StdinPipe(); err != nil {
		return store.Result{}, fmt.Errorf("cannot start a worker: %w", err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return store.Result{}, fmt.Errorf("cannot start a worker: %w", err)
	}
	if err := command.Start(); err != nil {
		return store.Result{}, fmt.Errorf("cannot start a worker: %w", err)
	}
	ended := make(chan struct{})
	go s.passOnStop(ctx, command.Process, ended)
	last := readEvents(output, log, func(p Progress) {
		s.observe(Update{Run: run, State: Running, Progress: p})
	})
	waitErr := command.Wait()
	close(ended)

	if last.Kind == failedEvent {
		return store.Result{}, Failure{Reason: last.Reason}
	}
	result, finished, err := dir.Finished(run.Config.Hash())
	switch {
	case waitErr == nil && last.Kind == doneEvent && finished:
		return result, nil
	case ctx.Err() != nil && stoppedAsAsked(command.ProcessState):
		return store.Result{}, errStopped
	case waitErr == nil && err != nil:
		return store.Result{}, fmt.Errorf("the worker's result cannot be read: %w", err)
	}
	return store.Result{}, Failure{Reason: describe(command.ProcessState), LogEnd: logEnd(log.Name())}
}

// prepare makes the run's folder ready and returns the open log.
func prepare(run plan.Run, dir store.Dir) (*os.File, error) {
	if err := dir.Begin(); err != nil {
		return nil, err
	}
	yaml, err := run.Config.YAML()
	if err != nil {
		return nil, err
	}
	if err := dir.WriteConfig(yaml); err != nil {
		return nil, err
	}
	return os.Create(dir.Path(store.LogFile))
}

func (s *scheduler) command(dir store.Dir) *exec.Cmd {
	threads := strconv.Itoa(s.options.Threads)
	arguments := append([]string{}, s.options.Command[1:]...)
	arguments = append(arguments, "--device", s.options.Device, "--threads", threads, dir.String())
	command := exec.Command(s.options.Command[0], arguments...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Env = os.Environ()
	for _, name := range threadVariables {
		command.Env = append(command.Env, name+"="+threads)
	}
	return command
}

// passOnStop asks the worker to stop when ctx is cancelled, and ends it when Kill is
// closed.
func (s *scheduler) passOnStop(ctx context.Context, worker *os.Process, ended <-chan struct{}) {
	select {
	case <-ctx.Done():
		worker.Signal(syscall.SIGTERM)
	case <-s.options.Kill:
	case <-ended:
		return
	}
	select {
	case <-s.options.Kill:
		worker.Kill()
	case <-ended:
	}
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
