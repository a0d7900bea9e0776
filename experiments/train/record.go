package train

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
	"iwda/internal/throttle"
)

// record is what a run has measured so far.
type record struct {
	classes   int
	metrics   []store.Metrics
	updates   []store.WeightUpdate
	confusion confusion // of the last evaluation

	sums checkpoint.Losses      // of the steps since the last evaluation
	read checkpoint.Instruments // of the same steps

	dir    store.Dir
	writes bool // this process does
	curves *throttle.Throttle
}

// curvesPause is the time between two writings of metrics.csv and its like, each of which
// waits for the disk: small runs make tens of evaluations a second.
const curvesPause = time.Second

func newRecord(classes int, dir store.Dir, writes bool) *record {
	return &record{classes: classes, dir: dir, writes: writes, curves: throttle.Every(curvesPause)}
}

// addStep takes what was read of a step into account.
func (r *record) addStep(v stepValues) {
	r.sums.Classification += v.losses.classification
	r.sums.Total += v.losses.total
	r.sums.Steps++
	if v.losses.aligned {
		r.sums.Domain += v.losses.domain
		r.sums.AlignedSteps++
	}
	r.read.FeatureNorm += v.instruments.featureNorm
	r.read.LogitNorm += v.instruments.logitNorm
	r.read.NetworkGradient += v.instruments.networkGradient
	r.read.Steps++
	if accuracy := v.instruments.discriminatorAccuracy; accuracy.Measured {
		r.read.DiscriminatorAccuracy += accuracy.Value
		r.read.DiscriminatorGradient += v.instruments.alignmentGradient
		r.read.DiscriminatorSteps++
	}
}

// addEvaluation completes a line of metrics with the accuracies, and with the means over the
// steps since the last one, of which there may be none.
func (r *record) addEvaluation(m store.Metrics, onTest confusion) {
	m.Accuracy, m.MeanClassAccuracy = onTest.accuracy(), onTest.meanClassAccuracy()
	m.ClassificationLoss = mean(r.sums.Classification, r.sums.Steps).OrNaN()
	m.DomainLoss = mean(r.sums.Domain, r.sums.AlignedSteps).OrNaN()
	m.TotalLoss = mean(r.sums.Total, r.sums.Steps).OrNaN()
	m.FeatureNorm = mean(r.read.FeatureNorm, r.read.Steps)
	m.LogitNorm = mean(r.read.LogitNorm, r.read.Steps)
	m.NetworkGradient = mean(r.read.NetworkGradient, r.read.Steps)
	m.DiscriminatorAccuracy = mean(r.read.DiscriminatorAccuracy, r.read.DiscriminatorSteps)
	m.DiscriminatorGradient = mean(r.read.DiscriminatorGradient, r.read.DiscriminatorSteps)
	r.sums, r.read = checkpoint.Losses{}, checkpoint.Instruments{}
	r.confusion = onTest
	r.metrics = append(r.metrics, m)
}

// mean is not measured where there were no steps.
func mean(sum float64, steps int) store.Optional[float64] {
	if steps == 0 {
		return store.Optional[float64]{}
	}
	return store.Measured(sum / float64(steps))
}

func (r *record) addUpdate(u store.WeightUpdate) { r.updates = append(r.updates, u) }

// labelShiftP is that of an update of the class weights after that many steps, if there
// was one.
func (r *record) labelShiftP(step int) store.Optional[float64] {
	if !r.updatedAfter(step) {
		return store.Optional[float64]{}
	}
	return r.updates[len(r.updates)-1].LabelShiftP
}

func (r *record) last() store.Metrics { return r.metrics[len(r.metrics)-1] }

func (r *record) evaluatedAfter(step int) bool {
	return len(r.metrics) > 0 && r.last().Step == step
}

func (r *record) updatedAfter(step int) bool {
	return len(r.updates) > 0 && r.updates[len(r.updates)-1].Step == step
}

// lastAccuracy is that of the last evaluation, not measured before the first or without labels.
func (r *record) lastAccuracy() (accuracy store.Optional[float64]) {
	if len(r.metrics) > 0 {
		accuracy = r.last().Accuracy
	}
	return accuracy
}

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
	if !r.writes {
		return nil
	}
	if err := r.dir.WriteMetrics(r.metrics); err != nil {
		return err
	}
	return r.dir.WriteWeights(r.updates)
}

// writeIfDue writes unless it did a moment ago: the end of the run does, and checkpoints hold
// what was measured.
func (r *record) writeIfDue() error {
	if !r.curves.Due() {
		return nil
	}
	return r.write()
}

func (r *record) save(s *saving) {
	s.Metrics, s.Weights = store.FormatMetrics(r.metrics), store.FormatWeights(r.updates)
	s.Confusion, s.Losses, s.Instruments = r.confusion, r.sums, r.read
}

func (r *record) restore(from *restoring) error {
	metrics, err := store.ParseMetrics("its metrics", strings.NewReader(from.Metrics))
	if err != nil {
		return err
	}
	updates, err := store.ParseWeights("its class weights", strings.NewReader(from.Weights))
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
	r.metrics, r.updates, r.confusion = metrics, updates, from.Confusion
	r.sums, r.read = from.Losses, from.Instruments
	return nil
}
