package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/version"
	"iwda/torch"
	"iwda/weightest"
)

// Interval says how often a run writes a checkpoint. Whichever comes first counts; a
// zero leaves that kind out.
type Interval struct {
	Epochs int
	Time   time.Duration
}

// checkpointFormat changes when an older program could not read a checkpoint, or would
// read it wrongly.
const checkpointFormat = "1"

// The keys of a checkpoint's metadata.
const (
	formatKey  = "format"
	versionKey = "iwda"
	configKey  = "config"
	stateKey   = "state"
)

// checkpointState is all of a checkpoint but its tensors, which are the networks under
// their names, the optimisers' momentum, libtorch's generators and what is counted by
// class.
type checkpointState struct {
	Step         int
	Passes       int // with a domain loss
	Seconds      float64
	PeakMemory   int64
	LearningRate float64
	Losses       lossSums
	Feed         feedState
	Updates      int // of the class weights
	SourceRows   int // behind the sums of the confusion matrix
	TargetRows   int
	Metrics      string // the text of metrics.csv
	Weights      string // the text of weights.csv
	Confusion    [][]int

	DataSHA256    string
	WeightsSHA256 string // of the file of pretrained weights
}

// The names of a checkpoint's tensors beside those of the networks.
const (
	momentumPrefix    = "momentum"
	cpuGenerator      = "generator.cpu"
	deviceGenerator   = "generator.device"
	classWeights      = "class_weights.estimate"  // w (k)
	lossWeights       = "class_weights.in_losses" // (k)
	confusionSums     = "class_weights.joint"     // k×k, row = true class
	targetPredictions = "class_weights.target"    // (k)
)

// OtherRunError is a checkpoint that this run must not go on from.
type OtherRunError struct {
	Path        string
	Differences []string // sentences or "key: value there, value here"
}

func (e *OtherRunError) Error() string {
	return fmt.Sprintf("%s was written by another run: %s; to begin anew, remove the run's folder (--overwrite clears only "+
		"one whose config.yaml or result is of another configuration), else choose another results folder",
		e.Path, strings.Join(e.Differences, "; "))
}

// checkpoints is the hook that writes a checkpoint when one is due or asked for.
func (t *trainer) checkpoints(stepsPerEpoch int) func(Position) error {
	last := time.Now()
	return func(p Position) error {
		t.completed = p
		every := t.options.Checkpoints
		due := every.Time > 0 && time.Since(last) >= every.Time ||
			every.Epochs > 0 && p.Step%(every.Epochs*stepsPerEpoch) == 0
		select {
		case <-t.options.CheckpointNow:
			due = true
		default:
		}
		if !due {
			return nil
		}
		last = time.Now()
		return t.writeCheckpoint()
	}
}

// writeCheckpoint writes the state after the last completed step.
func (t *trainer) writeCheckpoint() (err error) {
	torch.Tidy(func() {
		statistics := t.statistics.State()
		var metadata map[string]string
		if metadata, err = t.checkpointMetadata(statistics); err != nil {
			return
		}
		tensors := t.checkpointTensors(statistics)
		err = t.dir.WriteCheckpoint(func(w io.Writer) error { return writeSealed(w, tensors, metadata) })
	})
	return err
}

func (t *trainer) checkpointMetadata(statistics weightest.AccumulatorState) (map[string]string, error) {
	state, err := json.Marshal(checkpointState{
		Step: t.completed.Step, Passes: t.passes,
		Seconds: time.Since(t.started).Seconds(), PeakMemory: max(t.peakMemory, peakMemory()),
		LearningRate: t.learningRate, Losses: t.losses,
		Feed:    t.data.feed.state(),
		Updates: t.weights.State().Updates, SourceRows: statistics.SourceRows, TargetRows: statistics.TargetRows,
		Metrics: store.FormatMetrics(t.record.metrics), Weights: store.FormatWeights(t.record.updates),
		Confusion: t.record.confusion, DataSHA256: t.data.sha256, WeightsSHA256: t.weightsSHA256,
	})
	if err != nil {
		return nil, err
	}
	yaml, err := t.run.YAML()
	if err != nil {
		return nil, err
	}
	return map[string]string{
		formatKey: checkpointFormat, versionKey: version.Version, configKey: string(yaml), stateKey: string(state),
	}, nil
}

func (t *trainer) checkpointTensors(statistics weightest.AccumulatorState) []torch.Named {
	var tensors []torch.Named
	add := func(name string, tensor torch.Tensor) {
		tensors = append(tensors, torch.Named{Name: name, Tensor: tensor})
	}
	for _, e := range t.state() {
		add(e.Name, e.Tensor)
	}
	for i, g := range t.groups {
		for j, buffer := range g.sgd.Momentum() {
			if !buffer.IsZero() {
				add(momentumName(i, g.names[j]), buffer)
			}
		}
	}
	k := statistics.Classes
	add(classWeights, torch.FromSlice(t.weights.Weights(), k))
	add(lossWeights, t.lossWeights)
	add(confusionSums, torch.FromSlice(statistics.Joint, k, k))
	add(targetPredictions, torch.FromSlice(statistics.Target, k))
	addGenerator := func(name string, device torch.Device) {
		state := torch.GeneratorState(device)
		add(name, torch.FromSlice(state, len(state)))
	}
	addGenerator(cpuGenerator, torch.CPU)
	if t.options.Device != torch.CPU {
		addGenerator(deviceGenerator, t.options.Device)
	}
	return tensors
}

func momentumName(group int, parameter string) string {
	return fmt.Sprintf("%s.%d.%s", momentumPrefix, group, parameter)
}

// resume goes on from the newest checkpoint of the run's folder that is whole, and
// starts anew where there is none. The error is an [*OtherRunError] where the
// checkpoint is of another configuration, version or data.
func (t *trainer) resume() (err error) {
	for _, path := range t.dir.Checkpoints() {
		torch.Tidy(func() {
			tensors, metadata, damage := readSealed(path)
			if damage != nil {
				t.logf("%v; the checkpoint before it will do, if there is one", damage)
				return
			}
			if err = t.resumeFrom(path, tensors, metadata); err == nil {
				t.logf("going on from %s, after step %d", path, t.completed.Step)
			}
		})
		if err != nil || t.completed.Step > 0 {
			return err
		}
	}
	return nil
}

func (t *trainer) resumeFrom(path string, tensors map[string]torch.Tensor, metadata map[string]string) error {
	if differences := t.differences(metadata); len(differences) > 0 {
		return &OtherRunError{path, differences}
	}
	var state checkpointState
	if err := json.Unmarshal([]byte(metadata[stateKey]), &state); err != nil {
		return fmt.Errorf("%s: %s: %w", path, stateKey, err)
	}
	if changes := t.changes(state); len(changes) > 0 {
		return &OtherRunError{path, changes}
	}
	if err := t.restore(state, tensors); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// differences says in what a checkpoint is not one of this run.
func (t *trainer) differences(metadata map[string]string) []string {
	if format := metadata[formatKey]; format != checkpointFormat {
		return []string{fmt.Sprintf("format: %q there, %q here", format, checkpointFormat)}
	}
	var differences []string
	if there := metadata[versionKey]; there != version.Version {
		differences = append(differences, fmt.Sprintf("version of iwda: %s there, %s here", there, version.Version))
	}
	there, err := config.ParseRun("its configuration", []byte(metadata[configKey]))
	if err != nil {
		return append(differences, err.Error())
	}
	return append(differences, config.Differences(there, t.run)...)
}

// changes says which files are not those that the run began with.
func (t *trainer) changes(s checkpointState) []string {
	var changes []string
	add := func(what, was, is string) {
		if was != is {
			changes = append(changes, fmt.Sprintf("the %s changed since: their SHA-256 was %s, is %s", what, was, is))
		}
	}
	add("data", s.DataSHA256, t.data.sha256)
	add("pretrained weights", s.WeightsSHA256, t.weightsSHA256)
	return changes
}

// restore sets the run to a checkpoint's state. After an error the run is of no use.
func (t *trainer) restore(s checkpointState, tensors map[string]torch.Tensor) error {
	metrics, err := store.ParseMetrics("its metrics", strings.NewReader(s.Metrics))
	if err != nil {
		return err
	}
	updates, err := store.ParseWeights("its class weights", strings.NewReader(s.Weights))
	if err != nil {
		return err
	}
	if err := t.check(s, updates); err != nil {
		return err
	}
	taken := takenTensors{rest: maps.Clone(tensors)}
	estimate, inLosses := taken.take(classWeights), taken.take(lossWeights)
	joint, target := taken.take(confusionSums), taken.take(targetPredictions)
	generator := taken.take(cpuGenerator)
	// A run that moved to another kind of device has no such state, and no way to the
	// same bits.
	generatorOfDevice := taken.takeIfThere(deviceGenerator)
	var momentum [][]torch.Tensor
	for i, g := range t.groups {
		buffers := make([]torch.Tensor, len(g.names))
		for j, name := range g.names {
			buffers[j] = taken.takeIfThere(momentumName(i, name))
		}
		momentum = append(momentum, buffers)
	}
	if len(taken.missing) > 0 {
		return fmt.Errorf("it lacks %s", strings.Join(taken.missing, ", "))
	}
	if err := t.state().Load(taken.rest); err != nil {
		return err
	}
	for i, g := range t.groups {
		g.sgd.SetMomentum(momentum[i])
	}
	err = errors.Join(
		t.weights.Restore(weightest.TrackerState{Weights: torch.ToSlice[float64](estimate), Updates: s.Updates}),
		t.statistics.Restore(weightest.AccumulatorState{
			Classes: len(t.data.classNames),
			Joint:   torch.ToSlice[float64](joint), Target: torch.ToSlice[float64](target),
			SourceRows: s.SourceRows, TargetRows: s.TargetRows,
		}),
		t.data.feed.restore(s.Feed))
	if err != nil {
		return err
	}
	t.lossWeights.Set(inLosses)
	torch.SetGeneratorState(torch.CPU, torch.ToSlice[uint8](generator))
	if t.options.Device != torch.CPU && !generatorOfDevice.IsZero() {
		torch.SetGeneratorState(t.options.Device, torch.ToSlice[uint8](generatorOfDevice))
	}
	t.completed.Step = s.Step
	t.passes, t.learningRate, t.losses = s.Passes, s.LearningRate, s.Losses
	t.record = record{metrics: metrics, updates: updates, confusion: s.Confusion}
	t.started = t.started.Add(-time.Duration(s.Seconds * float64(time.Second)))
	t.peakMemory = s.PeakMemory
	return nil
}

// check refuses a state that no run of this one's length and classes can have had.
func (t *trainer) check(s checkpointState, updates []store.WeightUpdate) error {
	if total := t.totalSteps(); s.Step < 1 || s.Step > total || s.Passes < 0 || s.Passes > s.Step {
		return fmt.Errorf("its step is %d of %d, %d of them with a domain loss", s.Step, total, s.Passes)
	}
	if seconds := s.Seconds; !(seconds >= 0 && seconds < math.MaxInt32) {
		return fmt.Errorf("it took %v seconds", seconds)
	}
	k := len(t.data.classNames)
	for _, u := range updates {
		if len(u.Weights) != k {
			return fmt.Errorf("an update of the class weights has %d classes, not %d", len(u.Weights), k)
		}
	}
	wrong := func(row []int) bool { return len(row) != k }
	if n := len(s.Confusion); n != 0 && (n != k || slices.ContainsFunc(s.Confusion, wrong)) {
		return fmt.Errorf("its confusion matrix is not %d×%d", k, k)
	}
	return nil
}

// takenTensors hands out a checkpoint's tensors and remembers which were missing.
type takenTensors struct {
	rest    map[string]torch.Tensor // not taken
	missing []string
}

func (t *takenTensors) take(name string) torch.Tensor {
	if _, ok := t.rest[name]; !ok {
		t.missing = append(t.missing, name)
	}
	return t.takeIfThere(name)
}

func (t *takenTensors) takeIfThere(name string) torch.Tensor {
	tensor := t.rest[name]
	delete(t.rest, name)
	return tensor
}
