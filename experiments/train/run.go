package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/torch"
)

// Options are what a run is told beside its configuration. None of them changes a
// result, but the last bits of it: devices and numbers of threads add in other orders.
type Options struct {
	Device  torch.Device
	Threads int // of libtorch; at least 1
	// Group is the processes that make the run together, all of which call Run with the
	// same folder, on a disk that they share; nil for this process alone. Its device is
	// Device.
	Group    *torch.ProcessGroup
	Progress func(plan.Progress) // called a few times a second, never concurrently; may be nil
	Log      io.Writer           // takes a line for each noteworthy event; nil discards them
	// Alive is called after every piece of work that is no step, as a batch evaluated;
	// it may be nil.
	Alive func()
	// Checkpoints says when the run writes one besides those when it is cancelled and
	// at its end.
	Checkpoints Interval
	// CheckpointNow asks for a checkpoint after the current step whenever something comes, as
	// from package os/signal; it may be nil.
	CheckpointNow <-chan os.Signal

	asBytes bool // images go to the device as bytes even where that is a CPU
}

func (o Options) alive() {
	if o.Alive != nil {
		o.Alive()
	}
}

// logf writes a line to the log.
func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", args...)
	}
}

// Run trains a run and writes its files to dir, which must have been begun. It goes on
// from the checkpoint that is there, with the same bits as if it had never stopped, on
// a CPU. What was measured so far is on disk when it returns, also where it returns an
// error: that of a cancelled context, a [*NotFiniteError], an [*OtherRunError], a
// [*torch.Error], or one of data or disk. A run that is cancelled leaves a checkpoint
// too.
//
// Of several processes, see [Options], the one of rank 0 writes the files and returns the
// result; the others return the zero Result.
//
// Several goroutines may make a run each: it draws from a source of its own, and works on a
// GPU on a stream of its own. What a run says of its memory is its process's.
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
		return store.Result{}, fmt.Errorf("%s: %w", plan.Of(run).ID, err)
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

// restarts are the times at which a run began again with lower learning rates, because a loss
// or gradient was not finite. It begins at its seed, as the epochs before such an end are spoilt
// already; and so what comes out does not depend on when it was interrupted.
type restarts struct {
	most int
	made []checkpoint.Restart
}

// slowdown is what a restart multiplies all learning rates by.
const slowdown = 0.5

// factor is what all learning rates are multiplied by.
func (r *restarts) factor() float64 { return math.Pow(slowdown, float64(len(r.made))) }

func (r *restarts) save(s *saving) { s.Restarts = r.made }

func (r *restarts) restore(from *restoring) error {
	if len(from.Restarts) > r.most {
		return fmt.Errorf("it began again %d times, train.restarts is %d", len(from.Restarts), r.most)
	}
	r.made = from.Restarts
	return nil
}

// explain adds to the error of a run how often it began.
func (r *restarts) explain(err error) error {
	if len(r.made) == 0 {
		return err
	}
	return fmt.Errorf("%w (after %d restarts, with learning rates times %v)", err, len(r.made), r.factor())
}

// completeWithRestarts makes what is left of the run and, if that diverges, all of it again.
// The time that it took counts.
func completeWithRestarts(ctx context.Context, t *trainer) (store.Result, error) {
	for {
		result, err := t.complete(ctx)
		reason := (*NotFiniteError)(nil)
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
