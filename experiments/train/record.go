package train

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"iwda/experiments/checkpoint"
	"iwda/experiments/measure"
	"iwda/experiments/store"
	"iwda/internal/convert"
	"iwda/internal/system"
	"iwda/internal/throttle"
	"iwda/torch"
)

// record is what a run has measured so far.
type record struct {
	classes   int
	metrics   []store.Metrics
	updates   []store.WeightUpdate
	confusion measure.Confusion // of the last evaluation

	sums checkpoint.Sums // of the steps since the last evaluation

	dir    store.Dir
	curves *throttle.Throttle
}

// curvesPause is the time between two writings of metrics.csv and its like, each of which
// waits for the disk: small runs make tens of evaluations a second.
const curvesPause = time.Second

// addEvaluation completes a line of metrics with the accuracies, and with the means over the
// steps since the last one, of which there may be none.
func (r *record) addEvaluation(m store.Metrics, onTest measure.Confusion) {
	m.Accuracy, m.MeanClassAccuracy = onTest.Accuracy(), onTest.MeanClassAccuracy()
	m.ClassificationLoss = measure.Mean(r.sums.Classification, r.sums.Steps).OrNaN()
	m.DomainLoss = measure.Mean(r.sums.Domain, r.sums.AlignedSteps).OrNaN()
	m.TotalLoss = measure.Mean(r.sums.Total, r.sums.Steps).OrNaN()
	m.FeatureNorm = measure.Mean(r.sums.FeatureNorm, r.sums.Steps)
	m.LogitNorm = measure.Mean(r.sums.LogitNorm, r.sums.Steps)
	m.NetworkGradient = measure.Mean(r.sums.NetworkGradient, r.sums.Steps)
	m.DiscriminatorAccuracy = measure.Mean(r.sums.DiscriminatorAccuracy, r.sums.DiscriminatorSteps)
	m.DiscriminatorGradient = measure.Mean(r.sums.DiscriminatorGradient, r.sums.DiscriminatorSteps)
	r.sums, r.confusion = checkpoint.Sums{}, onTest
	r.metrics = append(r.metrics, m)
}

func (r *record) last() store.Metrics { return r.metrics[len(r.metrics)-1] }

// best returns the highest accuracy and the first epoch that had it, if there were labels.
func (r *record) best() (accuracy store.Optional[float64], epoch store.Optional[int]) {
	for _, m := range r.metrics {
		if m.Accuracy.Measured && (!accuracy.Measured || m.Accuracy.Value > accuracy.Value) {
			accuracy, epoch = m.Accuracy, store.Measured(m.Epoch)
		}
	}
	return accuracy, epoch
}

// conclude sets in a result what the last evaluation measured, and the best one.
func (r *record) conclude(result *store.Result) {
	last := r.last()
	result.BestAccuracy, result.BestEpoch = r.best()
	result.LastAccuracy, result.MeanClassAccuracy, result.Steps = last.Accuracy, last.MeanClassAccuracy, last.Step
	if last.Accuracy.Measured {
		result.Confusion = r.confusion
	}
}

// write writes what was measured so far.
func (r *record) write() error {
	if err := r.dir.WriteMetrics(r.metrics); err != nil {
		return err
	}
	return r.dir.WriteWeights(r.updates)
}

func (r *record) save(s *saving) {
	s.Metrics, s.Weights = store.MetricsLines.Format(r.metrics), store.WeightsLines.Format(r.updates)
	s.Confusion, s.Sums = r.confusion, r.sums
}

func (r *record) restore(from *restoring) error {
	metrics, err := store.MetricsLines.Parse("its metrics", strings.NewReader(from.Metrics))
	if err != nil {
		return err
	}
	updates, err := store.WeightsLines.Parse("its class weights", strings.NewReader(from.Weights))
	if err != nil {
		return err
	}
	k := r.classes
	for _, u := range updates {
		if len(u.Weights) != k {
			return fmt.Errorf("an update of the class weights has %d classes, not %d", len(u.Weights), k)
		}
	}
	wrong := func(row []int) bool { return len(row) != k }
	if n := len(from.Confusion); n != 0 && (n != k || slices.ContainsFunc(from.Confusion, wrong)) {
		return fmt.Errorf("its confusion matrix is not %d×%d", k, k)
	}
	r.metrics, r.updates, r.confusion, r.sums = metrics, updates, from.Confusion, from.Sums
	return nil
}

// readings are what steps leave for the host: losses, predictions and instruments. They stay
// on the device until there are enough of them or somebody needs them, because a copy to
// the host waits for everything that was asked of a GPU before.
type readings struct {
	together int // steps that are read at once, at most
	waiting  []reading
}

// newReadings reads each step on a CPU, where nothing waits, and some together elsewhere.
func newReadings(device torch.Device) *readings {
	if device == torch.CPU {
		return &readings{together: 1}
	}
	return &readings{together: 50}
}

// reading is what one step leaves.
type reading struct {
	measures
	at      position
	classes []int // of the source rows
}

// measures are what a step measures: numbers on its device, all in one tensor.
type measures struct {
	values  torch.Tensor // of float32
	lengths []int        // of what stands in values one after another
	rows    int          // of features and logits

	aligned                              bool // there is a domain loss
	discriminators                       int  // behind it
	networkGradients, alignmentGradients int  // groups of parameters
}

// measured takes what is wanted of a step: its outputs, losses and norms of gradients.
func measured(f stepOutputs, losses lossTensors, gradients gradientNorms) (m measures) {
	m = measures{
		rows: f.features.Shape()[0], aligned: losses.aligned, discriminators: len(losses.discriminator) / 2,
		networkGradients: len(gradients.network), alignmentGradients: len(gradients.alignment),
	}
	torch.NoGrad(func() {
		all := []torch.Tensor{f.probabilities, f.features.Square().Sum(), f.logits.Square().Sum(), losses.classification}
		if losses.aligned {
			all = append(all, losses.domain)
		}
		all = slices.Concat(all, losses.discriminator, gradients.network, gradients.alignment)
		for i, t := range all {
			m.lengths = append(m.lengths, t.Len())
			all[i] = t.Reshape(-1)
		}
		m.values = torch.Cat(0, all...)
	})
	return m
}

// add takes down a step, of whose source rows these are the classes.
func (r *readings) add(at position, m measures, classes []int) {
	r.waiting = append(r.waiting, reading{m, at, classes})
}

// stepValues are those of a reading on the host.
type stepValues struct {
	predictions     []float32
	checkpoint.Sums // over this step alone
}

// largestLoss is that of classification beyond which a run has diverged that may begin again: no
// network that learns gives the right classes probabilities of e^-1000.
const largestLoss = 1000

// check returns a [*DivergedError] for the first loss or gradient that is not finite, and for a
// classification loss above the largest.
func (v stepValues) check(at position, largest float64) error {
	for _, of := range []struct {
		term  string
		value float64
	}{
		{"classification loss", v.Classification}, {"domain loss", v.Domain},
		{"network's gradient", v.NetworkGradient}, {"discriminator's gradient", v.DiscriminatorGradient},
	} {
		if math.IsNaN(of.value) || math.IsInf(of.value, 0) {
			return &DivergedError{of.term, of.value, at.step + 1}
		}
	}
	if v.Classification > largest {
		return &DivergedError{"classification loss", v.Classification, at.step + 1}
	}
	return nil
}

// read takes its values from those that were copied, and returns the rest.
func (r *reading) read(copied []float32, tradeOff float64) (v stepValues, rest []float32) {
	lengths := r.lengths
	next := func() []float32 {
		first := copied[:lengths[0]]
		copied, lengths = copied[lengths[0]:], lengths[1:]
		return first
	}
	number := func() float64 { return float64(next()[0]) }
	v = stepValues{predictions: next(), Sums: checkpoint.Sums{Steps: 1}}
	v.FeatureNorm = math.Sqrt(number() / float64(r.rows))
	v.LogitNorm = math.Sqrt(number() / float64(r.rows))
	v.Classification = number()
	if r.aligned {
		v.Domain, v.AlignedSteps = number(), 1
	}
	v.Total = v.Classification + tradeOff*v.Domain
	for range r.discriminators {
		v.DiscriminatorAccuracy += discriminatorAccuracy(next(), next()) / float64(r.discriminators)
		v.DiscriminatorSteps = 1
	}
	v.NetworkGradient = norm(r.networkGradients, number)
	v.DiscriminatorGradient = norm(r.alignmentGradients, number)
	return v, copied
}

// full tells whether as many steps wait as are read together.
func (r *readings) full() bool { return len(r.waiting) >= r.together }

// take copies what waits to the host, all of it at once, and hands out step after step, up
// to the first error.
func (r *readings) take(tradeOff float64, step func(reading, stepValues) error) error {
	if len(r.waiting) == 0 {
		return nil
	}
	tensors := convert.Each(r.waiting, func(w reading) torch.Tensor { return w.values })
	var copied []float32
	torch.Tidy(func() {
		together := tensors[0]
		if len(tensors) > 1 {
			together = torch.Cat(0, tensors...)
		}
		copied = torch.ToSlice[float32](together)
	})
	for _, t := range tensors {
		t.Release()
	}
	waiting := r.waiting
	r.waiting = r.waiting[:0]
	for _, w := range waiting {
		var v stepValues
		v, copied = w.read(copied, tradeOff)
		if err := step(w, v); err != nil {
			return w.at.failed(err)
		}
	}
	return nil
}

// machine describes what computes in a line: the GPU, processor, cores, system, and the
// instructions that libtorch and our convolutions use, by which sums round.
func machine(device torch.Device) string {
	text := measure.Machine()
	if gpu := device.Name(); gpu != "" {
		text = gpu + ", " + text
	}
	if set := torch.InstructionSet(); set != "" {
		text += ", " + set
	}
	if set := torch.ConvolutionInstructions(); set != "" {
		text += ", convolutions " + set
	}
	return text
}

// effort is the time and memory that a run takes, with those of former processes of it.
type effort struct {
	started    time.Time // earlier by the time that former processes took
	formerPeak int64     // bytes
}

func (e *effort) seconds() float64 { return time.Since(e.started).Seconds() }

// peak is the largest resident memory of any process of the run, in bytes.
func (e *effort) peak() int64 { return max(e.formerPeak, system.PeakMemory()) }

func (e *effort) save(s *saving) { s.Seconds, s.PeakMemory = e.seconds(), e.peak() }

func (e *effort) restore(r *restoring) error {
	if !(r.Seconds >= 0 && r.Seconds < math.MaxInt32) {
		return fmt.Errorf("it took %v seconds", r.Seconds)
	}
	e.started = e.started.Add(-time.Duration(r.Seconds * float64(time.Second)))
	e.formerPeak = r.PeakMemory
	return nil
}
