package train

import (
	"errors"
	"fmt"
	"math"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/measure"
	"iwda/experiments/store"
	"iwda/internal/convert"
	"iwda/torch"
	"iwda/weightest"
)

// classWeights are the weights of the classes in the losses, their estimate, and the
// statistics behind it, of each source. Every method estimates them, to show in its results; only those
// with estimated weights use them.
type classWeights struct {
	estimated bool // the losses use the estimate
	every     int  // steps between two updates
	warmup    int  // updates that only clear the statistics

	measure.Shares
	sources  []*sourceWeights
	kept     store.Statistics // of all updates so far, of each of one source after the other
	inLosses []torch.Tensor   // w (k) of each source on the run's device
}

// sourceWeights is the estimate of one source's weights.
type sourceWeights struct {
	statistics *weightest.Accumulator
	tracker    *weightest.Tracker
}

// newClassWeights makes those of a run on its data, all one but where the losses use the
// true ones.
func newClassWeights(run config.Resolved, method config.Method, d *data, device torch.Device) (*classWeights, error) {
	shares, err := measure.NewShares(run, &d.About)
	if err != nil {
		return nil, err
	}
	w := &classWeights{
		estimated: method.Weights == config.EstimatedWeights && run.Weights.Shares == nil,
		every:     run.Weights.Every * d.feed.passSteps(),
		warmup:    run.Weights.Warmup,
		Shares:    shares,
	}
	for _, source := range w.EachSource() {
		tracker, err := weightest.NewTracker(len(d.Classes), weightest.TrackerSettings{
			EMA: run.Weights.EMA, Warmup: run.Weights.Warmup, MinSingularValue: run.Weights.MinSingularValue,
		})
		if err != nil {
			return nil, err
		}
		w.sources = append(w.sources, &sourceWeights{weightest.NewAccumulator(len(d.Classes)), tracker})
		inLosses := source.Fixed
		if inLosses == nil {
			inLosses = source.Weights
		}
		w.inLosses = append(w.inLosses, vector(inLosses, device))
	}
	return w, nil
}

// distributions are D_S (k) of each source, on a device.
func (w *classWeights) distributions(device torch.Device) []torch.Tensor {
	return convert.Each(w.EachSource(), func(of *measure.Shares) torch.Tensor { return vector(of.Source, device) })
}

// vector returns values as a tensor of the training's type on a device.
func vector(values []float64, device torch.Device) torch.Tensor {
	return torch.FromSlice(values, len(values)).To(torch.Float32, device)
}

// observe adds a step's predictions, source rows first, to the statistics.
func (w *classWeights) observe(probabilities []float32, sourceClasses []int) error {
	n := len(w.sources)
	values, rows := len(probabilities)/(n+1), len(sourceClasses)/n // of each domain
	for i, source := range w.sources {
		err := source.statistics.Add(probabilities[i*values:(i+1)*values], sourceClasses[i*rows:(i+1)*rows], probabilities[n*values:])
		if err != nil {
			return err
		}
	}
	return nil
}

// due reports whether the weights are updated after that many steps.
func (w *classWeights) due(step int) bool { return step%w.every == 0 }

// update moves the weights of each source towards the estimate of its statistics. An estimate that cannot be
// had leaves the weights as they are, and the statistics go on.
func (w *classWeights) update(step int) (updates []store.WeightUpdate, err error) {
	for i, shares := range w.EachSource() {
		of := w.sources[i]
		confusion, predictions := of.statistics.Confusion(), of.statistics.TargetPredictions()
		update, err := of.tracker.Update(of.statistics, shares.Source)
		if errors.Is(err, weightest.ErrNoConvergence) || errors.Is(err, weightest.ErrInfeasible) {
			update = weightest.Update{
				Weights:               shares.Weights,
				SmallestSingularValue: math.NaN(),
				EffectiveSampleSize:   weightest.EffectiveSampleSize(shares.Weights, shares.Source),
				Note:                  fmt.Sprintf("%v: the former weights stay", err),
			}
		} else if err != nil {
			return nil, err
		}
		shares.Weights = of.tracker.Weights()
		w.kept.Add(step, confusion.RawMatrix().Data, predictions)
		if update.Changed && w.estimated {
			torch.CopyFromSlice(w.inLosses[i], convert.Slice[float32](update.Weights))
		}
		updates = append(updates, store.WeightUpdate{
			Step: step, Source: shares.Name, Weights: update.Weights, Distance: shares.Distance().OrNaN(),
			SmallestSingular: update.SmallestSingularValue, EffectiveSampleSize: update.EffectiveSampleSize,
			Note: update.Note,
		})
	}
	w.Combine()
	return updates, nil
}

// inWords is what the log says of an update.
func inWords(u store.WeightUpdate) string {
	text := fmt.Sprintf("epoch %d: weights ", u.Epoch)
	if u.Source != "" {
		text += "of " + u.Source + " "
	}
	text += fmt.Sprintf("%.2f", u.Weights)
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
	k := len(w.Source)
	for i, of := range w.sources {
		statistics, tracker := of.statistics.State(), of.tracker.State()
		s.Estimates = append(s.Estimates, checkpoint.Estimate{Updates: tracker.Updates, SourceRows: statistics.SourceRows, TargetRows: statistics.TargetRows})
		s.add(nameOfSource(weightEstimate, i), torch.FromSlice(tracker.Weights, k))
		s.add(nameOfSource(weightsInLosses, i), w.inLosses[i])
		s.add(nameOfSource(confusionSums, i), torch.FromSlice(statistics.Joint, k, k))
		s.add(nameOfSource(targetPredictions, i), torch.FromSlice(statistics.Target, k))
	}
	if n := len(w.kept.Steps); n > 0 {
		s.add(keptConfusion, torch.FromSlice(w.kept.Confusion, n, k, k))
		s.add(keptPredictions, torch.FromSlice(w.kept.TargetPredictions, n, k))
		s.add(keptSteps, torch.FromSlice(w.kept.Steps, n))
	}
}

func (w *classWeights) restore(r *restoring) error {
	if len(r.Estimates) != len(w.sources) {
		return fmt.Errorf("it has class weights of %d sources, not %d", len(r.Estimates), len(w.sources))
	}
	for i, shares := range w.EachSource() {
		estimate, inLosses := r.take(nameOfSource(weightEstimate, i)), r.take(nameOfSource(weightsInLosses, i))
		joint, target := r.take(nameOfSource(confusionSums, i)), r.take(nameOfSource(targetPredictions, i))
		if err := r.complete(); err != nil {
			return err
		}
		of, counts := w.sources[i], r.Estimates[i]
		err := errors.Join(
			of.tracker.Restore(weightest.TrackerState{Weights: torch.ToSlice[float64](estimate), Updates: counts.Updates}),
			of.statistics.Restore(weightest.AccumulatorState{
				Classes: len(w.Source),
				Joint:   torch.ToSlice[float64](joint), Target: torch.ToSlice[float64](target),
				SourceRows: counts.SourceRows, TargetRows: counts.TargetRows,
			}))
		if err != nil {
			return err
		}
		shares.Weights = of.tracker.Weights()
		w.inLosses[i].Set(inLosses)
	}
	w.Combine()
	confusion, predictions, steps := r.takeIfThere(keptConfusion), r.takeIfThere(keptPredictions), r.takeIfThere(keptSteps)
	if !confusion.IsZero() && !predictions.IsZero() && !steps.IsZero() {
		w.kept = store.Statistics{
			Steps: torch.ToSlice[int64](steps), Confusion: torch.ToSlice[float32](confusion), TargetPredictions: torch.ToSlice[float32](predictions),
		}
	}
	return nil
}
