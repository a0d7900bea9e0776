package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/throttle"
	"iwda/internal/version"
	"iwda/nets"
	"iwda/torch"
	"iwda/weightest"
)

// Options are what a run is told beside its configuration. None of them changes a
// result, but the last bits of it: devices and numbers of threads add in other orders.
type Options struct {
	Device   torch.Device
	Threads  int                 // of libtorch; at least 1
	Progress func(plan.Progress) // called a few times a second, never concurrently; may be nil
	Log      io.Writer           // takes a line for each noteworthy event; nil discards them
	// Alive is called after every piece of work that is no step, as a batch evaluated;
	// it may be nil.
	Alive func()
	// Checkpoints says when the run writes one besides those when it is cancelled and
	// at its end.
	Checkpoints Interval
	// CheckpointNow asks for a checkpoint after the current step; it may be nil.
	CheckpointNow <-chan struct{}
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
// [*torch.Error], or one of data or disk.
//
// It uses libtorch's process-wide generator and number of threads, so that a process
// must not have two runs at once.
func Run(ctx context.Context, run config.Resolved, dir store.Dir, options Options) (result store.Result, err error) {
	started := time.Now()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	torchErr := torch.Try(func() {
		torch.SetThreads(options.Threads)
		torch.Seed(datasets.Stream(run.Seed, "initialisation").Uint64())
		var t *trainer
		if t, err = newTrainer(ctx, run, dir, options, started); err != nil {
			return
		}
		defer func() { err = errors.Join(err, t.close()) }()
		if err = t.resume(); err != nil {
			return
		}
		if err = t.loop(ctx).Run(ctx); err != nil {
			if lastErr := t.leave(ctx); lastErr != nil {
				err = fmt.Errorf("%w (and then: %v)", err, lastErr)
			}
			return
		}
		result, err = t.finish(ctx)
	})
	if err == nil {
		err = torchErr
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", plan.Of(run).ID, err)
	}
	return result, err
}

// trainer is a run's state.
type trainer struct {
	run     config.Resolved
	method  config.Method
	dir     store.Dir
	options Options
	started time.Time

	data *data

	network       nets.Network
	weightsSHA256 string
	// evaluated is the part of the network that maps the rows of an evaluation to
	// logits: all of it, unless a frozen backbone's features are computed in advance.
	evaluated      nets.Network
	apart          bool      // each domain passes through the network on its own
	alignment      alignment // nil for source-only
	classification classification
	groups         []group
	learningRate   float64 // of the network at the last step

	sourceDistribution, targetDistribution []float64

	statistics  *weightest.Accumulator
	weights     *weightest.Tracker
	trueWeights []float64
	lossWeights torch.Tensor // the weights in the losses (k)

	losses   lossSums
	lastLoss float64
	record   record

	completed  Position // the last step whose hooks are done
	passes     int      // steps with a domain loss
	peakMemory int64    // of former processes of this run, in bytes
}

func newTrainer(ctx context.Context, run config.Resolved, dir store.Dir, options Options, started time.Time) (*trainer, error) {
	if options.Log == nil {
		options.Log = io.Discard
	}
	method, ok := config.ParseMethod(run.Method)
	if !ok {
		return nil, fmt.Errorf("no method %q", run.Method)
	}
	t := &trainer{
		run: run, method: method, dir: dir, options: options, started: started,
		learningRate: run.Train.Optimizer.LR,
		lastLoss:     math.NaN(),
	}
	if err := t.openDataAndNetwork(ctx); err != nil {
		return nil, err
	}
	classes := len(t.data.classNames)
	t.sourceDistribution, t.targetDistribution = t.data.source.Shares(classes), t.data.target.Shares(classes)
	if err := t.initWeights(); err != nil {
		return nil, errors.Join(err, t.data.close())
	}
	t.alignment = newAlignment(run, method, t.network.FeatureSize(), classes)
	t.state().Move(torch.Float32, options.Device)
	t.groups = newGroups(run, t.network, t.alignment)
	t.classification = newClassification(run, method, t.vector(t.sourceDistribution))
	// What the alignment drew for its own networks must not change the dropout of the
	// first epoch, which all methods share.
	torch.Seed(datasets.Stream(run.Seed, "dropout").Uint64())
	return t, nil
}

// openDataAndNetwork makes the two that may depend on each other: image files need a
// frozen backbone, networks the classes of the data.
func (t *trainer) openDataAndNetwork(ctx context.Context) (err error) {
	described, err := catalogue.Find(t.run.Dataset.Name)
	if err != nil {
		return err
	}
	if described.Kind != catalogue.ImageFiles {
		if t.data, err = openData(t.run); err != nil {
			return err
		}
		t.data.onSource, t.data.onTest = lively{t.data.onSource, t.options.alive}, lively{t.data.onTest, t.options.alive}
		t.network, t.weightsSHA256, err = newNetwork(t.run, datasets.Size(t.data.rowShape), len(t.data.classNames))
		t.evaluated = t.network
		return err
	}
	if t.network, t.weightsSHA256, err = newNetwork(t.run, 0, len(described.Classes)); err != nil {
		return err
	}
	t.network.State().Move(torch.Float32, t.options.Device)
	if t.data, err = openImages(ctx, t.run, t.network, t.options); err != nil {
		return err
	}
	t.evaluated, t.apart = t.network, true
	if frozen, ok := t.network.(*nets.Frozen); ok {
		t.evaluated, t.apart = frozen.OnPooled(), false
		if t.run.Network.Views > 0 {
			t.network = t.evaluated
		}
	}
	return nil
}

// state is everything that the run trains, under the names of its checkpoint.
func (t *trainer) state() nets.State {
	state := t.network.State().Prefixed("network")
	if t.alignment != nil {
		state = append(state, t.alignment.state().Prefixed("alignment")...)
	}
	return state
}

func (t *trainer) close() error {
	for _, g := range t.groups {
		g.sgd.Close()
	}
	return t.data.close()
}

// vector returns values as a tensor of the training's type on its device.
func (t *trainer) vector(values []float64) torch.Tensor {
	return torch.FromSlice(values, len(values)).To(torch.Float32, t.options.Device)
}

// loop hangs the run's duties on the loop.
func (t *trainer) loop(ctx context.Context) *Loop {
	epochs, stepsPerEpoch := t.length()
	l := &Loop{
		Epochs: epochs, StepsPerEpoch: stepsPerEpoch, Done: t.completed.Step,
		Step: func(p Position) error { return t.step(ctx, p) },
	}
	l.OnEpochStart("evaluation", func(p Position) error { return t.evaluate(ctx, p.Epoch-1, p.Step) })
	l.OnStep("progress", t.progress(l))
	l.OnStep("class weights", t.updateWeights)
	l.OnStep("checkpoint", t.checkpoints(l.StepsPerEpoch))
	l.OnEnd("evaluation", func(p Position) error { return t.evaluate(ctx, p.Epoch, p.Step) })
	return l
}

// length is that of the run; the epochs of one that counts steps lie between two
// evaluations.
func (t *trainer) length() (epochs, stepsPerEpoch int) {
	epochs = t.run.Train.Evaluations()
	if t.run.Train.Steps > 0 {
		return epochs, t.run.Train.EvalEvery
	}
	return epochs, t.data.feed.passSteps()
}

func (t *trainer) totalSteps() int {
	epochs, stepsPerEpoch := t.length()
	return epochs * stepsPerEpoch
}

// progress reports at most five times a second.
func (t *trainer) progress(l *Loop) func(Position) error {
	pause := throttle.Every(200 * time.Millisecond)
	return func(p Position) error {
		if t.options.Progress != nil && pause.Due() {
			t.options.Progress(plan.Progress{
				Epoch: p.Epoch, Epochs: l.Epochs, Step: p.Step, Steps: l.Epochs * l.StepsPerEpoch,
				Accuracy: t.record.lastAccuracy(), Loss: t.lastLoss,
			})
		}
		return nil
	}
}

// leave writes what there is of a run that stops early. The networks of one that was
// cancelled are whole; after an error within a step they may not be.
func (t *trainer) leave(ctx context.Context) error {
	err := t.flush()
	if ctx.Err() != nil && t.completed.Step > 0 {
		err = errors.Join(err, t.writeCheckpoint())
	}
	return err
}

func (t *trainer) finish(ctx context.Context) (store.Result, error) {
	if err := t.flush(); err != nil {
		return store.Result{}, err
	}
	if err := t.writeCheckpoint(); err != nil {
		return store.Result{}, err
	}
	best, last := t.record.best(), t.record.last()
	onSource := newConfusion(len(t.data.classNames))
	if err := evaluate(ctx, t.evaluated, t.data.onSource, t.run.Train.EvalBatch, t.options.Device, onSource); err != nil {
		return store.Result{}, err
	}
	result := store.Result{
		ID:         plan.Of(t.run).ID.String(),
		Experiment: t.run.Experiment,
		Variant:    t.run.Variant, Task: t.run.Task, Method: t.run.Method, Seed: t.run.Seed,
		ConfigHash: t.run.Hash(),
		Versions:   map[string]string{"iwda": version.Version, "go": runtime.Version(), "libtorch": torch.Version()},
		Machine:    machine(),
		Device:     t.options.Device.String(), Threads: t.options.Threads,
		WeightsSHA256: t.weightsSHA256,
		DataSHA256:    t.data.sha256,
		BestAccuracy:  best.Accuracy, BestEpoch: best.Epoch,
		LastAccuracy: last.Accuracy, MeanClassAccuracy: last.MeanClassAccuracy,
		Confusion:       t.record.confusion,
		SourceConfusion: onSource,
		Classes:         t.data.classNames,
		Weights:         t.weights.Weights(),
		TrueWeights:     t.trueWeights,
		WeightDistance:  weightest.Distance(t.weights.Weights(), t.trueWeights),
		JSD:             datasets.JSD(t.sourceDistribution, t.targetDistribution),
		LabelDistributions: store.LabelDistributions{
			Source: t.sourceDistribution, Target: t.targetDistribution,
		},
		Steps:           last.Step,
		Seconds:         time.Since(t.started).Seconds(),
		PeakMemoryBytes: max(t.peakMemory, peakMemory()),
	}
	if err := t.dir.WriteResult(result); err != nil {
		return store.Result{}, err
	}
	return result, t.dir.RemovePreviousCheckpoint()
}
