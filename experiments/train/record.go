package train

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"iwda/experiments/store"
	"iwda/torch"
	"iwda/weightest"
)

// lossSums collects the losses of the steps since the last evaluation.
type lossSums struct {
	classification, domain, total float64
	steps, alignedSteps           int
}

func (s *lossSums) add(classification, domain, total float64, aligned bool) {
	s.classification += classification
	s.total += total
	s.steps++
	if aligned {
		s.domain += domain
		s.alignedSteps++
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

// evaluate measures the network on the target's test set after that many epochs.
func (t *trainer) evaluate(ctx context.Context, epoch, step int) error {
	e, err := evaluate(ctx, t.evaluated, t.data.onTest, len(t.data.classNames), t.run.Train.EvalBatch, t.options.Device)
	if err != nil {
		return err
	}
	s := t.losses
	t.losses = lossSums{}
	t.record.confusion = e.Confusion
	t.record.metrics = append(t.record.metrics, store.Metrics{
		Epoch: epoch, Step: step,
		Accuracy: e.accuracy(), MeanClassAccuracy: e.meanClassAccuracy(),
		ClassificationLoss: mean(s.classification, s.steps),
		DomainLoss:         mean(s.domain, s.alignedSteps),
		TotalLoss:          mean(s.total, s.steps),
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

// writeCheckpoint writes the numbers of the networks.
func (t *trainer) writeCheckpoint(p Position) error {
	var tensors []torch.Named
	for _, e := range t.state() {
		tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
	}
	metadata := map[string]string{
		"config_hash": t.run.Hash(),
		"epoch":       strconv.Itoa(p.Epoch),
		"step":        strconv.Itoa(p.Step),
	}
	return store.WriteFile(t.dir.Path(store.CheckpointFile), func(w io.Writer) error {
		var buffer bytes.Buffer
		if err := torch.WriteTensors(&buffer, tensors, metadata); err != nil {
			return err
		}
		_, err := w.Write(buffer.Bytes())
		return err
	})
}

func (t *trainer) logf(format string, args ...any) {
	fmt.Fprintf(t.options.Log, format+"\n", args...)
}
