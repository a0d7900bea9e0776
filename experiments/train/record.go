package train

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"iwda/experiments/checkpoint"
	"iwda/experiments/measure"
	"iwda/experiments/store"
	"iwda/internal/throttle"
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

func newRecord(classes int, dir store.Dir) *record {
	return &record{classes: classes, dir: dir, curves: throttle.Every(curvesPause)}
}

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

func (r *record) addUpdate(u store.WeightUpdate) { r.updates = append(r.updates, u) }

func (r *record) last() store.Metrics { return r.metrics[len(r.metrics)-1] }

func (r *record) evaluatedAfter(step int) bool {
	return len(r.metrics) > 0 && r.last().Step == step
}

func (r *record) updatedAfter(step int) bool {
	return len(r.updates) > 0 && r.updates[len(r.updates)-1].Step == step
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
	s.Confusion, s.Sums = r.confusion, r.sums
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
	r.metrics, r.updates, r.confusion, r.sums = metrics, updates, from.Confusion, from.Sums
	return nil
}
