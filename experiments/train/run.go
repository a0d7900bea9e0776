// Package train trains one run of an experiment: a method on a task with a seed.
//
// [Run] composes it from parts that know nothing of each other: the task's data, the
// network, the objective (a classification loss and an alignment of the domains), the
// optimisers, the class weights, what is measured, and the checkpoints. A loop over them
// makes the steps, to be read from top to bottom in loop.go.
package train

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/torch"
)

// Run trains a run and writes its files to dir, which must have been begun. It goes on
// from the checkpoint that is there, with the same bits as if it had never stopped, on
// a CPU. What was measured so far is on disk when it returns, also where it returns an
// error: that of a cancelled context, a [*DivergedError], an [*OtherRunError], a
// [*torch.Error], or one of data or disk. A run that is cancelled leaves a checkpoint
// too.
//
// It works on a GPU on a stream of its own. What a run says of its memory is its process's.
func Run(ctx context.Context, run config.Resolved, dir store.Dir, options Options) (store.Result, error) {
	started := time.Now()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var result store.Result
	err := try(func() (err error) {
		torch.OnOwnStream(options.Device, func() {
			var t *trainer
			if t, err = newTrainer(ctx, run, dir, options, started); err == nil {
				result, err = completeWithRestarts(ctx, t)
			}
		})
		return err
	})
	if err != nil {
		return store.Result{}, err
	}
	return result, nil
}

// try returns the error of f, or that of libtorch.
func try(f func() error) (err error) {
	if torchErr := torch.Try(func() { err = f() }); torchErr != nil {
		return torchErr
	}
	return err
}

// completeWithRestarts makes what is left of the run and, if that diverges, all of it again.
// The time that it took counts.
func completeWithRestarts(ctx context.Context, t *trainer) (store.Result, error) {
	for {
		result, err := t.complete(ctx)
		reason := (*DivergedError)(nil)
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
		*next.effort = *t.effort
		next.restarts.made = append(slices.Clip(t.restarts.made), checkpoint.Restart{Step: reason.Step, Term: reason.Term})
		next.optimisation.rate *= next.restarts.factor()
		t = next
		t.options.logf("step %d: the %s is %v; the run begins again with learning rates times %v",
			reason.Step, reason.Term, reason.Value, t.restarts.factor())
	}
}
