package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/throttle"
	"iwda/internal/version"
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
				result, err = t.completeWithRestarts(ctx)
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

// trainer is a run in the making: parts that hold their own state, and a loop over them.
type trainer struct {
	run     config.Resolved
	dir     store.Dir
	options Options

	random       *torch.Random
	data         *data
	model        *model
	objective    *objective
	optimisation *optimisation
	classWeights *classWeights
	evaluator    evaluator
	processes    processes
	recorder     *recorder
	readings     *readings
	record       *record
	effort       *effort
	checkpoints  *occasions
	restarts     *restarts
	progress     *throttle.Throttle
	curves       *throttle.Throttle

	length length
	done   int // steps completed
}

// parts are those of which a checkpoint keeps something.
func (t *trainer) parts() []part {
	return []part{
		feedPart{t.data.feed}, t.model, t.objective, t.optimisation, t.classWeights, t.record, t.effort, t.restarts,
		dropoutDraws{t.random},
	}
}

// newTrainer makes a run as it begins: all that is random in it follows from its seed.
func newTrainer(ctx context.Context, run config.Resolved, dir store.Dir, options Options, started time.Time) (*trainer, error) {
	if options.Log == nil {
		options.Log = io.Discard
	}
	t := &trainer{
		run: run, dir: dir, options: options,
		effort:      &effort{started: started},
		processes:   processes{options.Group},
		checkpoints: newOccasions(options.Checkpoints, options.CheckpointNow),
		restarts:    &restarts{most: run.Train.Restarts},
		progress:    throttle.Every(progressPause),
		curves:      throttle.Every(curvesPause),
	}
	if err := try(func() error { return t.open(ctx) }); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// open makes the parts.
func (t *trainer) open(ctx context.Context) (err error) {
	if err := t.run.CheckMade(); err != nil {
		return err
	}
	method, ok := config.ParseMethod(t.run.Method)
	if !ok {
		return fmt.Errorf("no method %q", t.run.Method)
	}
	if err := t.processes.check(t.run, method); err != nil {
		return err
	}
	device := t.options.Device
	torch.SetThreads(t.options.Threads)
	t.random = torch.NewRandom(datasets.Stream(t.run.Seed, "initialisation").Uint64())
	if t.model, t.data, err = openModelAndData(ctx, t.run, t.random, t.options); err != nil {
		return err
	}
	classes := len(t.data.classNames)
	if t.classWeights, err = newClassWeights(t.run, method, t.data, device); err != nil {
		return err
	}
	t.length = lengthOf(t.run.Train, t.data.feed.passSteps())
	var alignment alignment
	t.random.Lend(func() {
		alignment = newAlignment(t.run, method, t.model.network.FeatureSize(), classes)
	})
	t.objective = newObjective(t.run, method, alignment, vector(t.classWeights.source, device), t.processes)
	t.model.state().Move(torch.Float32, device)
	t.objective.state().Move(torch.Float32, device)
	t.optimisation = newOptimisation(t.run, t.model.network, alignment, t.processes, t.restarts)
	t.evaluator = evaluator{network: t.model.evaluated, batchSize: t.run.Train.EvalBatch, device: device}
	t.recorder = &recorder{recording: t.run.Train.Graph, device: device, random: t.random, compute: t.compute}
	t.readings = newReadings(device)
	t.record = newRecord(classes)
	// What the alignment drew for its own networks must not change the dropout of the
	// first epoch, which all methods share.
	t.random.Seed(datasets.Stream(t.run.Seed, "dropout").Uint64())
	return nil
}

// close releases what the parts hold, as far as they were made.
func (t *trainer) close() error {
	if t.recorder != nil {
		t.recorder.close()
	}
	if t.optimisation != nil {
		t.optimisation.close()
	}
	if t.data != nil {
		return t.data.close()
	}
	return nil
}

// complete makes what is left of the run after begin, and closes it.
func (t *trainer) complete(ctx context.Context, begin func() error) (result store.Result, err error) {
	err = try(begin)
	if err == nil {
		if err = try(func() error { return t.train(ctx) }); cancelled(err) {
			err = cmp.Or(try(t.readSteps), err)
		}
		if err != nil {
			err = also(err, t.leave(err))
		}
	}
	if err == nil && t.processes.first() {
		err = try(func() (err error) { result, err = t.finish(ctx); return err })
	}
	return result, also(err, t.close())
}

// begin goes on from the checkpoint, if there is one, with the same numbers in all
// processes.
func (t *trainer) begin() error {
	if err := t.resume(); err != nil {
		return err
	}
	return t.alike()
}

// alike gives all processes the numbers of the first one.
func (t *trainer) alike() error {
	if err := t.processes.sameStep(t.done); err != nil {
		return err
	}
	t.processes.copyOfFirst(t.model.state())
	t.processes.copyOfFirst(t.objective.state())
	return nil
}

// also returns the first error, and what went wrong after it.
func also(err, later error) error {
	if err == nil || later == nil {
		return cmp.Or(err, later)
	}
	return fmt.Errorf("%w (and then: %w)", err, later)
}

// leave writes what there is of a run that ends early with that error. One that was
// cancelled ended between two steps, so that its parts are whole; after any other error
// they may not be. All processes are there until the files of one that was cancelled are written: what
// started them may end all when one has ended.
func (t *trainer) leave(err error) error {
	left := t.writeRecord()
	if cancelled(err) && t.done > 0 {
		left = errors.Join(left, try(t.writeCheckpoint))
	}
	if cancelled(err) {
		left = errors.Join(left, torch.Try(t.processes.wait))
	}
	return left
}

func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// writeRecord writes what was measured so far.
func (t *trainer) writeRecord() error {
	if !t.processes.first() {
		return nil
	}
	return t.record.write(t.dir)
}

// finish writes the result of a run whose steps are done.
func (t *trainer) finish(ctx context.Context) (store.Result, error) {
	if err := t.writeRecord(); err != nil {
		return store.Result{}, err
	}
	if err := t.writeCheckpoint(); err != nil {
		return store.Result{}, err
	}
	onSource := newConfusion(len(t.data.classNames))
	if err := t.evaluator.evaluate(ctx, t.data.onSource, onSource); err != nil {
		return store.Result{}, err
	}
	last, err := t.describingOutputs(ctx)
	if err != nil {
		return store.Result{}, err
	}
	about, err := t.about(last)
	if err != nil {
		return store.Result{}, err
	}
	if err := t.writeModel(about); err != nil {
		return store.Result{}, err
	}
	result := t.result(onSource)
	if result.WithoutLabels, err = t.withoutLabels(last); err != nil {
		return store.Result{}, err
	}
	if result.CorrectedAccuracy, err = t.correctedAccuracy(ctx, about); err != nil {
		return store.Result{}, err
	}
	if err := t.dir.WriteResult(result); err != nil {
		return store.Result{}, err
	}
	return result, t.dir.RemovePreviousCheckpoint()
}

func (t *trainer) result(onSource confusion) store.Result {
	bestAccuracy, bestEpoch := t.record.best()
	last := t.record.last()
	w := t.classWeights
	return store.Result{
		ID:         plan.Of(t.run).ID.String(),
		Experiment: t.run.Experiment,
		Variant:    t.run.Variant, Task: t.run.Task, Method: t.run.Method, Seed: t.run.Seed,
		ConfigHash: t.run.Hash(),
		Versions:   versions(),
		Machine:    machine(),
		Device:     t.options.Device.String(), Threads: t.options.Threads, Processes: t.processes.several(),
		WeightsSHA256: t.model.pretrainedSHA256,
		DataSHA256:    t.data.sha256,
		BestAccuracy:  bestAccuracy, BestEpoch: bestEpoch,
		LastAccuracy: last.Accuracy, MeanClassAccuracy: last.MeanClassAccuracy,
		Confusion:          t.record.confusion.measured(),
		SourceConfusion:    onSource,
		Classes:            t.data.classNames,
		Weights:            w.tracker.Weights(),
		TrueWeights:        w.truth,
		WeightDistance:     w.distance(),
		JSD:                w.divergence(),
		LabelDistributions: store.LabelDistributions{Source: w.source, Target: w.target},
		Steps:              last.Step,
		Restarts:           t.restarts.made,
		Seconds:            t.effort.seconds(),
		PeakMemoryBytes:    t.effort.peak(),
	}
}

// versions are those of the programs that make a run.
func versions() map[string]string {
	return map[string]string{"iwda": version.Version, "go": runtime.Version(), "libtorch": torch.Version()}
}

func (t *trainer) logf(format string, args ...any) {
	fmt.Fprintf(t.options.Log, format+"\n", args...)
}
