// Package train trains one run of an experiment: a method on a task with a seed.
//
// [Run] composes it from parts that know nothing of each other: the task's data, the
// network, the objective (a classification loss and an alignment of the domains), the
// optimisers, the class weights, what is measured, and the checkpoints. A loop over them
// makes the steps, to be read from top to bottom in loop.go.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"iwda/datasets"
	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/measure"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/throttle"
	"iwda/nets/architecture"
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

// trainer is a run in the making: parts that hold their own state, and a loop over them
// in loop.go.
type trainer struct {
	run     config.Resolved
	dir     store.Dir
	options Options

	random       *torch.Random
	clock        *clock
	data         *data
	model        *model
	objective    *objective
	optimisation *optimisation
	classWeights *classWeights
	evaluator    evaluator
	capturer     *capturer
	readings     *readings
	record       *record
	effort       *effort
	restarts     *restarts
	checkpoints  *checkpoints
	progress     *throttle.Throttle
}

// newTrainer makes a run as it begins: all that is random in it follows from its seed.
func newTrainer(ctx context.Context, run config.Resolved, dir store.Dir, options Options, started time.Time) (*trainer, error) {
	t := &trainer{
		run: run, dir: dir, options: options,
		effort:   &effort{started: started},
		restarts: &restarts{most: run.Train.Restarts},
		progress: throttle.Every(progressPause),
	}
	if err := try(func() error { return t.open(ctx) }); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// open makes the parts.
func (t *trainer) open(ctx context.Context) (err error) {
	method, ok := config.ParseMethod(t.run.Method)
	if !ok {
		return fmt.Errorf("no method %q", t.run.Method)
	}
	device := t.options.Device
	t.options.Threads = cmp.Or(t.options.Threads, 1)
	torch.SetThreads(t.options.Threads)
	t.random = torch.NewRandom(datasets.Stream(t.run.Seed, "initialisation").Uint64())
	if t.model, t.data, err = openModelAndData(ctx, t.run, t.random, t.options); err != nil {
		return err
	}
	for _, problem := range t.data.Unpublished {
		t.options.logf("warning: %s", problem)
	}
	classes := len(t.data.Classes)
	if t.classWeights, err = newClassWeights(t.run, method, t.data, device); err != nil {
		return err
	}
	t.clock = newClock(t.run.Train, t.data.feed.passSteps())
	sources := t.classWeights.distributions(device)
	t.random.Lend(func() { t.objective = newObjective(t.run, method, t.model.network.FeatureSize(), sources) })
	t.model.state().Move(torch.Float32, device)
	t.objective.state().Move(torch.Float32, device)
	t.optimisation = &optimisation{
		settings: t.run.Train, groups: newGroups(t.run, t.model.network, t.objective.pairs), rate: t.run.Train.Optimizer.LR, restarts: t.restarts,
	}
	t.evaluator = evaluator{logitsOf(t.model.evaluated), t.run.Train.EvalBatch, device}
	t.capturer = &capturer{on: t.captures(), device: device, random: t.random, compute: t.compute, steps: map[bool]*capturedStep{}}
	t.readings = newReadings(device)
	t.record = &record{classes: classes, dir: t.dir, curves: throttle.Every(curvesPause)}
	t.checkpoints = newCheckpoints(t.run, t.dir, t.options,
		checkpoint.State{DataSHA256: t.data.SHA256, WeightsSHA256: t.model.pretrainedSHA256},
		t.clock, t.data.feed, t.model, t.objective, t.optimisation, t.classWeights, t.record, t.effort, t.restarts,
		dropoutDraws{t.random})
	// What the alignments drew for their own networks must not change the dropout of the
	// first epoch, which all methods share.
	t.random.Seed(datasets.Stream(t.run.Seed, "dropout").Uint64())
	return nil
}

// captures reports whether a GPU captures the run's steps: not those of a network of the user's own, which
// may wait for the host.
func (t *trainer) captures() bool {
	if t.options.captured {
		return true
	}
	return t.run.Train.Graph && t.options.Device.IsCUDA() && t.run.Network.Name != string(architecture.TorchScript)
}

// close releases what the parts hold, as far as they were made.
func (t *trainer) close() error {
	if t.capturer != nil {
		t.capturer.close()
	}
	if t.optimisation != nil {
		t.optimisation.close()
	}
	if t.data != nil {
		return t.data.close()
	}
	return nil
}

// complete makes what is left of the run, and closes it.
func (t *trainer) complete(ctx context.Context) (result store.Result, err error) {
	err = try(t.begin)
	if err == nil {
		if err = try(func() error { return t.train(ctx) }); cancelled(err) {
			err = cmp.Or(try(t.readSteps), err)
		}
		if err != nil {
			err = also(err, t.leave(err))
		}
	}
	if err == nil {
		err = try(func() (err error) { result, err = t.finish(ctx); return err })
	}
	return result, also(err, t.close())
}

// begin goes on from the checkpoint, if there is one. A run that begins again begins at its seed, and
// writes down how often it did.
func (t *trainer) begin() error {
	if len(t.restarts.made) > 0 {
		return t.checkpoints.write()
	}
	return t.checkpoints.resume()
}

// leave writes what there is of a run that ends early with that error. One that was
// cancelled ended between two steps, so that its parts are whole; after any other error
// they may not be.
func (t *trainer) leave(err error) error {
	left := t.record.write()
	if cancelled(err) && t.clock.done > 0 {
		left = errors.Join(left, try(t.checkpoints.write))
	}
	return left
}

func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// also returns the first error, and what went wrong after it.
func also(err, later error) error {
	if err == nil || later == nil {
		return cmp.Or(err, later)
	}
	return fmt.Errorf("%w (and then: %w)", err, later)
}

// finish writes what there is to say of a run whose steps are done, its result last.
func (t *trainer) finish(ctx context.Context) (store.Result, error) {
	if err := errors.Join(t.record.write(), t.dir.WriteStatistics(t.classWeights.kept), t.checkpoints.write()); err != nil {
		return store.Result{}, err
	}
	if warning := t.classWeights.neverUpdated(t.clock.steps()); warning != "" {
		t.options.logf("%s", warning)
	}
	result := store.Result{
		Machine: machine(t.options.Device), Device: t.options.Device.String(), Threads: t.options.Threads,
		WeightsSHA256: t.model.pretrainedSHA256, Restarts: t.restarts.made,
	}
	t.record.conclude(&result)
	about, err := about(t.run, t.data, t.model)
	if err != nil {
		return store.Result{}, err
	}
	err = t.finished().Conclude(ctx, t.dir, &result, about, finite{}, func(m savedmodel.Metadata) error { return m.Write(t.dir.Disk(), t.dir.String()) })
	if err != nil {
		return store.Result{}, err
	}
	result.Seconds, result.PeakMemoryBytes = t.effort.seconds(), t.effort.peak()
	if err := t.dir.WriteResult(result); err != nil {
		return store.Result{}, err
	}
	return result, nil
}

// finished is the run as it is measured.
func (t *trainer) finished() measure.Finished {
	return measure.Finished{
		Run: t.run, About: &t.data.About, Shares: t.classWeights.Shares, Sets: t.evaluator.sets(t.data), Source: t.evaluator.pass(t.data.onSource), Logf: t.options.logf,
	}
}

// Options are what a run is told beside its configuration. None of them changes a
// result, but the last bits of it: devices and numbers of threads add in other orders.
type Options struct {
	Device   torch.Device
	Threads  int                 // of libtorch; 0 means 1
	Progress func(plan.Progress) // called a few times a second, never concurrently; may be nil
	Log      io.Writer           // takes a line for each noteworthy event; nil discards them
	// Checkpoints is the time after which the run writes one besides those when it is cancelled and
	// at its end.
	Checkpoints time.Duration

	asBytes   bool // images go to the device as bytes even where that is a CPU
	captured  bool // steps are made as those that a GPU captures even where the device is a CPU
	eachEpoch bool // there is a checkpoint after each epoch
}

// logf writes a line to the log.
func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", args...)
	}
}
