package train

import (
	"context"
	"fmt"
	"math"
	"time"

	"iwda/experiments/store"
	"iwda/weightest"
)

// lossSums collects the losses of the steps since the last evaluation. Its fields are
// exported for checkpoints.
type lossSums struct {
	Classification, Domain, Total float64
	Steps, AlignedSteps           int
}

func (s *lossSums) add(classification, domain, total float64, aligned bool) {
	s.Classification += classification
	s.Total += total
	s.Steps++
	if aligned {
		s.Domain += domain
		s.AlignedSteps++
	}
}

// mean is NaN where there were no steps.
func mean(sum float64, steps int) float64 {
	if steps == 0 {
		return math.NaN()
	}
	return sum / float64(steps)
}

// record is what a run has measured so far.
type record struct {
	metrics   []store.Metrics
	updates   []store.WeightUpdate
	confusion [][]int // of the last evaluation
}

func (r *record) last() store.Metrics { return r.metrics[len(r.metrics)-1] }

func (r *record) evaluatedAfter(step int) bool {
	return len(r.metrics) > 0 && r.last().Step == step
}

func (r *record) lastAccuracy() float64 {
	if len(r.metrics) == 0 {
		return math.NaN()
	}
	return r.last().Accuracy
}

// best is the first evaluation with the highest accuracy.
func (r *record) best() store.Metrics {
	best := r.metrics[0]
	for _, m := range r.metrics[1:] {
		if m.Accuracy > best.Accuracy {
			best = m
		}
	}
	return best
}

// evaluate measures the network on the target's test set after that many epochs. A run
// that was interrupted right after an evaluation does not repeat it.
func (t *trainer) evaluate(ctx context.Context, epoch, step int) error {
	if t.record.evaluatedAfter(step) {
		return nil
	}
	onTest := newConfusion(len(t.data.classNames))
	if err := evaluate(ctx, t.evaluated, t.data.onTest, t.run.Train.EvalBatch, t.options.Device, onTest); err != nil {
		return err
	}
	accuracy, _ := onTest.accuracy()
	meanClassAccuracy, _ := onTest.meanClassAccuracy()
	s := t.losses
	t.losses = lossSums{}
	t.record.confusion = onTest
	t.record.metrics = append(t.record.metrics, store.Metrics{
		Epoch: epoch, Step: step,
		Accuracy: accuracy, MeanClassAccuracy: meanClassAccuracy,
		ClassificationLoss: mean(s.Classification, s.Steps),
		DomainLoss:         mean(s.Domain, s.AlignedSteps),
		TotalLoss:          mean(s.Total, s.Steps),
		WeightDistance:     weightest.Distance(t.weights.Weights(), t.trueWeights),
		LearningRate:       t.learningRate,
		Seconds:            time.Since(t.started).Seconds(),
	})
	return t.flush()
}

// flush writes what was measured so far.
func (t *trainer) flush() error {
	if err := t.dir.WriteMetrics(t.record.metrics); err != nil {
		return err
	}
	return t.dir.WriteWeights(t.record.updates)
}

func (t *trainer) logf(format string, args ...any) {
	fmt.Fprintf(t.options.Log, format+"\n", args...)
}
