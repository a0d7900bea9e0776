package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"iwda/datasets"
	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/measure"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/internal/throttle"
	"iwda/nets/architecture"
	"iwda/torch"
)

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
	t.optimisation = newOptimisation(t.run, t.model.network, t.objective.pairs, t.restarts)
	t.evaluator = evaluator{logitsOf(t.model.evaluated), t.run.Train.EvalBatch, device, t.options.alive}
	t.capturer = &capturer{on: t.captures(), device: device, random: t.random, compute: t.compute, steps: map[bool]*capturedStep{}}
	t.readings = newReadings(device)
	t.record = newRecord(classes, t.dir)
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
	t.effort.conclude(&result)
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
