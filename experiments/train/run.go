package train

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"syscall"
	"time"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/nets"
	"iwda/torch"
	"iwda/weightest"
)

// Version is the program's version, recorded with every result.
const Version = "0.1.0"

// Options are what a run is told beside its configuration. None of them changes a
// result, but the last bits of it: devices and numbers of threads add in other orders.
type Options struct {
	Device   torch.Device
	Threads  int            // of libtorch; at least 1
	Progress func(Progress) // called a few times a second, never concurrently; may be nil
	Log      io.Writer      // takes a line for each noteworthy event; nil discards them
}

// Progress is how far a run has come.
type Progress struct {
	Epoch, Epochs int     // the current epoch, from 1
	Step, Steps   int     // steps completed, of the whole run
	Accuracy      float64 // of the last evaluation, a fraction of 1; NaN before the first
	Loss          float64 // total loss of the last step; NaN before the first
}

// Run trains a run and writes its files to dir, which must have been begun. What was
// measured so far is on disk when it returns, also where it returns an error: that of
// a cancelled context, a [*NotFiniteError], a [*torch.Error], or one of data or disk.
//
// It uses libtorch's process-wide generator and number of threads, so that a process
// must not have two runs at once.
func Run(ctx context.Context, run config.Resolved, dir store.Dir, options Options) (result store.Result, err error) {
	started := time.Now()
	if options.Log == nil {
		options.Log = io.Discard
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	torchErr := torch.Try(func() {
		torch.SetThreads(options.Threads)
		torch.Seed(datasets.Stream(run.Seed, "initialisation").Uint64())
		var t *trainer
		if t, err = newTrainer(run, dir, options, started); err != nil {
			return
		}
		defer t.close()
		if err = t.loop().Run(ctx); err != nil {
			if flushErr := t.flush(); flushErr != nil {
				err = fmt.Errorf("%w (and then: %v)", err, flushErr)
			}
			return
		}
		result, err = t.finish()
	})
	if err == nil {
		err = torchErr
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", store.RunID(run.Variant, run.Task, run.Method, run.Seed), err)
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

	task           Task
	source, target *datasets.WithReplacement
	batch          batch

	network        nets.Network
	alignment      alignment // nil for source-only
	classification classification
	networkSGD     *torch.SGD
	alignmentSGD   *torch.SGD // nil where the alignment trains nothing
	learningRate   float64    // of the network

	sourceDistribution, targetDistribution []float64

	statistics  *weightest.Accumulator
	weights     *weightest.Tracker
	trueWeights []float64
	lossWeights torch.Tensor // the weights in the losses (k)

	losses   lossSums
	lastLoss float64
	record   record
}

func newTrainer(run config.Resolved, dir store.Dir, options Options, started time.Time) (*trainer, error) {
	method, ok := config.ParseMethod(run.Method)
	if !ok {
		return nil, fmt.Errorf("no method %q", run.Method)
	}
	task, err := LoadTask(run)
	if err != nil {
		return nil, err
	}
	if err := task.checkLabels(); err != nil {
		return nil, err
	}
	t := &trainer{
		run: run, method: method, dir: dir, options: options, started: started, task: task,
		source:             datasets.NewWithReplacement(task.Source.Len(), datasets.Stream(run.Seed, "source batches")),
		target:             datasets.NewWithReplacement(task.Target.Len(), datasets.Stream(run.Seed, "target batches")),
		batch:              newBatch(run.Train.Batch, task.Source.Shape()),
		sourceDistribution: datasets.LabelDistribution(task.Source),
		targetDistribution: datasets.LabelDistribution(task.Target),
		learningRate:       run.Train.Optimizer.LR,
		lastLoss:           math.NaN(),
	}
	if err := t.initWeights(); err != nil {
		return nil, err
	}
	if err := t.initNetworks(); err != nil {
		return nil, err
	}
	// What the alignment drew for its own networks must not change the dropout of the
	// first epoch, which all methods share.
	torch.Seed(datasets.Stream(run.Seed, "dropout").Uint64())
	return t, nil
}

func (t *trainer) initNetworks() error {
	classes := len(t.task.Source.ClassNames())
	if t.run.Network.Name != "lenet" {
		return fmt.Errorf("no network %q", t.run.Network.Name)
	}
	t.network = nets.NewLeNet(classes)
	t.alignment = newAlignment(t.run, t.method, t.network.FeatureSize(), classes)
	state := t.state()
	state.Move(torch.Float32, t.options.Device)
	t.networkSGD = torch.NewSGD(t.network.State().Parameters())
	if t.alignment != nil {
		if parameters := t.alignment.state().Parameters(); len(parameters) > 0 {
			t.alignmentSGD = torch.NewSGD(parameters)
		}
	}
	t.classification = newClassification(t.run, t.method, t.vector(t.sourceDistribution))
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

func (t *trainer) close() {
	t.networkSGD.Close()
	if t.alignmentSGD != nil {
		t.alignmentSGD.Close()
	}
}

// vector returns values as a tensor of the training's type on its device.
func (t *trainer) vector(values []float64) torch.Tensor {
	return torch.FromSlice(values, len(values)).To(torch.Float32, t.options.Device)
}

// loop hangs the run's duties on the loop.
func (t *trainer) loop() *Loop {
	larger := max(t.task.Source.Len(), t.task.Target.Len())
	l := &Loop{Epochs: t.run.Train.Epochs, StepsPerEpoch: larger / t.run.Train.Batch, Step: t.step}
	l.OnEpochStart("evaluation", func(p Position) error { return t.evaluate(p.Epoch-1, p.Step) })
	l.OnEpochStart("learning rate", t.anneal)
	l.OnStep("progress", t.progress(l))
	l.OnEpochEnd("class weights", t.updateWeights)
	l.OnEpochEnd("checkpoint", func(p Position) error { return t.writeCheckpoint(p) })
	l.OnEnd("evaluation", func(p Position) error { return t.evaluate(p.Epoch, p.Step) })
	return l
}

// anneal multiplies the learning rate before each epoch that is a multiple of the
// schedule's period.
func (t *trainer) anneal(p Position) error {
	s := t.run.Train.Schedule
	if s.Name == "step" && p.Epoch%s.Every == 0 {
		t.learningRate *= s.Factor
	}
	return nil
}

// progress reports at most five times a second.
func (t *trainer) progress(l *Loop) func(Position) error {
	const pause = 200 * time.Millisecond
	var last time.Time
	return func(p Position) error {
		if t.options.Progress != nil && time.Since(last) >= pause {
			last = time.Now()
			t.options.Progress(Progress{
				Epoch: p.Epoch, Epochs: l.Epochs, Step: p.Step, Steps: l.Epochs * l.StepsPerEpoch,
				Accuracy: t.record.lastAccuracy(), Loss: t.lastLoss,
			})
		}
		return nil
	}
}

func (t *trainer) finish() (store.Result, error) {
	if err := t.flush(); err != nil {
		return store.Result{}, err
	}
	best, last := t.record.best(), t.record.last()
	result := store.Result{
		ID:         store.RunID(t.run.Variant, t.run.Task, t.run.Method, t.run.Seed),
		Experiment: t.run.Experiment,
		Variant:    t.run.Variant, Task: t.run.Task, Method: t.run.Method, Seed: t.run.Seed,
		ConfigHash: t.run.Hash(),
		Versions:   map[string]string{"iwda": Version, "go": runtime.Version(), "libtorch": torch.Version()},
		Device:     t.options.Device.String(), Threads: t.options.Threads,
		BestAccuracy: best.Accuracy, BestEpoch: best.Epoch,
		LastAccuracy: last.Accuracy, MeanClassAccuracy: last.MeanClassAccuracy,
		Confusion:      t.record.confusion,
		Classes:        t.task.Source.ClassNames(),
		Weights:        t.weights.Weights(),
		TrueWeights:    t.trueWeights,
		WeightDistance: weightest.Distance(t.weights.Weights(), t.trueWeights),
		JSD:            datasets.JSD(t.sourceDistribution, t.targetDistribution),
		LabelDistributions: store.LabelDistributions{
			Source: t.sourceDistribution, Target: t.targetDistribution,
		},
		Steps:           last.Step,
		Seconds:         time.Since(t.started).Seconds(),
		PeakMemoryBytes: peakMemory(),
	}
	return result, t.dir.WriteResult(result)
}

// peakMemory is the largest resident memory that this process has had.
func peakMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Maxrss << 10 // Linux counts in KiB
}
