package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
)

// record is what a run has measured so far.
type record struct {
	classes   int
	metrics   []store.Metrics
	updates   []store.WeightUpdate
	confusion confusion // of the last evaluation

	sums checkpoint.Losses      // of the steps since the last evaluation
	read checkpoint.Instruments // of the same steps
}

func newRecord(classes int) *record { return &record{classes: classes} }

// addStep takes a step's losses into account.
func (r *record) addStep(l stepLosses) {
	r.sums.Classification += l.classification
	r.sums.Total += l.total
	r.sums.Steps++
	if l.aligned {
		r.sums.Domain += l.domain
		r.sums.AlignedSteps++
	}
}

// addInstruments takes what was read at a step into account.
func (r *record) addInstruments(read instruments) { read.addTo(&r.read) }

// addEvaluation completes a line of metrics with the accuracies and the losses of the
// steps since the last one.
func (r *record) addEvaluation(m store.Metrics, onTest confusion) {
	m.Accuracy, m.MeanClassAccuracy = onTest.accuracy(), onTest.meanClassAccuracy()
	m.ClassificationLoss = mean(r.sums.Classification, r.sums.Steps)
	m.DomainLoss = mean(r.sums.Domain, r.sums.AlignedSteps)
	m.TotalLoss = mean(r.sums.Total, r.sums.Steps)
	setMeans(&m, r.read)
	r.sums, r.read = checkpoint.Losses{}, checkpoint.Instruments{}
	r.confusion = onTest
	r.metrics = append(r.metrics, m)
}

// mean is NaN where there were no steps.
func mean(sum float64, steps int) float64 {
	if steps == 0 {
		return math.NaN()
	}
	return sum / float64(steps)
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

// write writes what was measured so far.
func (r *record) write(dir store.Dir) error {
	if err := dir.WriteMetrics(r.metrics); err != nil {
		return err
	}
	return dir.WriteWeights(r.updates)
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
