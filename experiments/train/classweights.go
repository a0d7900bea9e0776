package train

import (
	"errors"
	"fmt"
	"math"

	"iwda/experiments/config"
	"iwda/experiments/measure"
	"iwda/experiments/store"
	"iwda/torch"
	"iwda/weightest"
)

// classWeights are the weights of the classes in the losses, their estimate, and the
// statistics behind it. Every method estimates them, to show in its results; only those
// with estimated weights use them.
type classWeights struct {
	estimated bool // the losses use the estimate
	every     int  // steps between two updates
	warmup    int  // updates that only clear the statistics

	measure.Shares
	statistics *weightest.Accumulator
	kept       store.Statistics // of all updates so far
	tracker    *weightest.Tracker
	inLosses   torch.Tensor // w (k) on the run's device
}

// newClassWeights makes those of a run on its data, all one but where the losses use the
// true ones.
func newClassWeights(run config.Resolved, method config.Method, d *data, device torch.Device) (*classWeights, error) {
	classes := len(d.Classes)
	tracker, err := weightest.NewTracker(classes, weightest.TrackerSettings{
		EMA: run.Weights.EMA, Warmup: run.Weights.Warmup, MinSingularValue: run.Weights.MinSingularValue,
	})
	if err != nil {
		return nil, err
	}
	shares, err := measure.NewShares(run, &d.About)
	if err != nil {
		return nil, err
	}
	w := &classWeights{
		estimated:  method.Weights == config.EstimatedWeights && run.Weights.Shares == nil,
		every:      run.Weights.Every * d.feed.passSteps(),
		warmup:     run.Weights.Warmup,
		Shares:     shares,
		statistics: weightest.NewAccumulator(classes),
		tracker:    tracker,
	}
	inLosses := w.Fixed
	if inLosses == nil {
		inLosses = w.Weights
	}
	w.inLosses = vector(inLosses, device)
	return w, nil
}

// vector returns values as a tensor of the training's type on a device.
func vector(values []float64, device torch.Device) torch.Tensor {
	return torch.FromSlice(values, len(values)).To(torch.Float32, device)
}

// observe adds a step's predictions, source rows first, to the statistics.
func (w *classWeights) observe(probabilities []float32, sourceClasses []int) error {
	half := len(probabilities) / 2
	return w.statistics.Add(probabilities[:half], sourceClasses, probabilities[half:])
}

// due reports whether the weights are updated after that many steps.
func (w *classWeights) due(step int) bool { return step%w.every == 0 }

// update moves the weights towards the estimate of the statistics. An estimate that cannot be
// had leaves the weights as they are, and the statistics go on.
func (w *classWeights) update(step int) (store.WeightUpdate, error) {
	confusion, predictions := w.statistics.Confusion(), w.statistics.TargetPredictions()
	update, err := w.tracker.Update(w.statistics, w.Source)
	if errors.Is(err, weightest.ErrNoConvergence) || errors.Is(err, weightest.ErrInfeasible) {
		update = weightest.Update{
			Weights:               w.Weights,
			SmallestSingularValue: math.NaN(),
			EffectiveSampleSize:   weightest.EffectiveSampleSize(w.Weights, w.Source),
			Note:                  fmt.Sprintf("%v: the former weights stay", err),
		}
	} else if err != nil {
		return store.WeightUpdate{}, err
	}
	w.Weights = w.tracker.Weights()
	w.kept.Add(step, confusion.RawMatrix().Data, predictions)
	if update.Changed && w.estimated {
		torch.CopyFromSlice(w.inLosses, weightest.Narrow(update.Weights))
	}
	return store.WeightUpdate{
		Step: step, Weights: update.Weights, Distance: w.Distance().OrNaN(),
		SmallestSingular: update.SmallestSingularValue, EffectiveSampleSize: update.EffectiveSampleSize,
		Note: update.Note,
	}, nil
}

// inWords is what the log says of an update.
func inWords(u store.WeightUpdate) string {
	text := fmt.Sprintf("epoch %d: weights %.2f", u.Epoch, u.Weights)
	if !math.IsNaN(u.Distance) {
		text += fmt.Sprintf(", distance to the true ones %.3f", u.Distance)
	}
	if !math.IsNaN(u.SmallestSingular) {
		text += fmt.Sprintf(", smallest singular value of C %.4f", u.SmallestSingular)
	}
	text += fmt.Sprintf(", effective sample size %.3f", u.EffectiveSampleSize)
	if u.Note != "" {
		text += "; " + u.Note
	}
	return text
}

// neverUpdated warns of a run of so many steps whose losses use estimated weights that are still
// one; otherwise it returns "".
func (w *classWeights) neverUpdated(steps int) string {
	if !w.estimated || w.Estimate() != nil {
		return ""
	}
	return fmt.Sprintf("warning: no update changed the class weights, all are 1; weights.every and weights.warmup leave %d updates in %d steps",
		max(0, steps/w.every-w.warmup), steps)
}

// The names of the tensors in a checkpoint.
const (
	weightEstimate    = "class_weights.estimate"  // w (k)
	weightsInLosses   = "class_weights.in_losses" // (k)
	confusionSums     = "class_weights.joint"     // k×k, row = true class
	targetPredictions = "class_weights.target"    // (k)
	// Of the updates so far, n×k×k, n×k and n; missing before the first.
	keptConfusion, keptPredictions, keptSteps = "class_weights.confusions", "class_weights.predictions", "class_weights.steps"
)

func (w *classWeights) save(s *saving) {
	statistics, tracker := w.statistics.State(), w.tracker.State()
	s.Updates, s.SourceRows, s.TargetRows = tracker.Updates, statistics.SourceRows, statistics.TargetRows
	k := statistics.Classes
	s.add(weightEstimate, torch.FromSlice(tracker.Weights, k))
	s.add(weightsInLosses, w.inLosses)
	s.add(confusionSums, torch.FromSlice(statistics.Joint, k, k))
	s.add(targetPredictions, torch.FromSlice(statistics.Target, k))
	if n := len(w.kept.Steps); n > 0 {
		s.add(keptConfusion, torch.FromSlice(w.kept.Confusion, n, k, k))
		s.add(keptPredictions, torch.FromSlice(w.kept.TargetPredictions, n, k))
		s.add(keptSteps, torch.FromSlice(w.kept.Steps, n))
	}
}

func (w *classWeights) restore(r *restoring) error {
	estimate, inLosses := r.take(weightEstimate), r.take(weightsInLosses)
	joint, target := r.take(confusionSums), r.take(targetPredictions)
	if err := r.complete(); err != nil {
		return err
	}
	err := errors.Join(
		w.tracker.Restore(weightest.TrackerState{Weights: torch.ToSlice[float64](estimate), Updates: r.Updates}),
		w.statistics.Restore(weightest.AccumulatorState{
			Classes: len(w.Source),
			Joint:   torch.ToSlice[float64](joint), Target: torch.ToSlice[float64](target),
			SourceRows: r.SourceRows, TargetRows: r.TargetRows,
		}))
	if err != nil {
		return err
	}
	w.Weights = w.tracker.Weights()
	w.inLosses.Set(inLosses)
	confusion, predictions, steps := r.takeIfThere(keptConfusion), r.takeIfThere(keptPredictions), r.takeIfThere(keptSteps)
	if !confusion.IsZero() && !predictions.IsZero() && !steps.IsZero() {
		w.kept = store.Statistics{
			Steps: torch.ToSlice[int64](steps), Confusion: torch.ToSlice[float32](confusion), TargetPredictions: torch.ToSlice[float32](predictions),
		}
	}
	return nil
}
