package train

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/losses/form"
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

	source, target []float64 // label distributions; the target's is nil where it has no labels
	truth          []float64 // nil where the target has no labels
	known          []float64 // the target's label distribution by weights.shares; nil where it is not given
	fixed          []float64 // weights of the losses all along, true or known ones; nil for the estimate
	statistics     *weightest.Accumulator
	kept           store.Statistics // of all updates so far
	tracker        *weightest.Tracker
	inLosses       torch.Tensor // w (k) on the run's device
}

// newClassWeights makes those of a run on its data, all one but where the losses use the
// true ones.
func newClassWeights(run config.Resolved, method config.Method, d *data, device torch.Device) (*classWeights, error) {
	classes := len(d.classNames)
	tracker, err := weightest.NewTracker(classes, weightest.TrackerSettings{
		EMA: run.Weights.EMA, Warmup: run.Weights.Warmup, MinSingularValue: run.Weights.MinSingularValue,
	})
	if err != nil {
		return nil, err
	}
	w := &classWeights{
		estimated:  method.Weights == config.EstimatedWeights && run.Weights.Shares == nil,
		every:      run.Weights.Every * d.feed.passSteps(),
		warmup:     run.Weights.Warmup,
		source:     d.source.Shares(classes),
		statistics: weightest.NewAccumulator(classes),
		tracker:    tracker,
	}
	if d.target.Known() > 0 {
		w.target = d.target.Shares(classes)
		if w.truth, err = weightest.Oracle(w.source, w.target); err != nil {
			return nil, err
		}
	} else if method.Weights == config.OracleWeights {
		return nil, fmt.Errorf("%s uses the true class shares of the target, of which no row has a label", method.Name)
	}
	if shares := run.Weights.Shares; shares != nil {
		if w.known, err = shares.Of(d.classNames); err != nil {
			return nil, err
		}
		if w.fixed, err = weightest.Oracle(w.source, w.known); err != nil {
			return nil, fmt.Errorf("weights.shares: %w", err)
		}
	}
	if method.Weights == config.OracleWeights {
		w.fixed = w.truth
	}
	inLosses := w.fixed
	if inLosses == nil {
		inLosses = w.tracker.Weights()
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
	update, err := w.tracker.Update(w.statistics, w.source)
	if errors.Is(err, weightest.ErrNoConvergence) || errors.Is(err, weightest.ErrInfeasible) {
		update = weightest.Update{
			Weights:               w.tracker.Weights(),
			SmallestSingularValue: math.NaN(),
			EffectiveSampleSize:   weightest.EffectiveSampleSize(w.tracker.Weights(), w.source),
			Note:                  fmt.Sprintf("%v: the former weights stay", err),
		}
	} else if err != nil {
		return store.WeightUpdate{}, err
	}
	w.kept.Add(step, confusion.RawMatrix().Data, predictions)
	if update.Changed && w.estimated {
		torch.CopyFromSlice(w.inLosses, float32s(update.Weights))
	}
	return store.WeightUpdate{
		Step: step, Weights: update.Weights, Distance: w.distance().OrNaN(),
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

// describe sets in a line of metrics how far the weights are from the true and from equal ones.
func (w *classWeights) describe(m *store.Metrics) {
	weights := w.tracker.Weights()
	m.WeightDistance = w.distance().OrNaN()
	m.LargestWeight = store.Measured(slices.Max(weights))
	m.EffectiveSampleSize = store.Measured(weightest.EffectiveSampleSize(weights, w.source))
}

// neverUpdated warns of a run of so many steps whose losses use estimated weights that are still
// one; otherwise it returns "".
func (w *classWeights) neverUpdated(steps int) string {
	if !w.estimated || w.targetShares() != nil {
		return ""
	}
	return fmt.Sprintf("warning: no update changed the class weights, all are 1; weights.every and weights.warmup leave %d updates in %d steps",
		max(0, steps/w.every-w.warmup), steps)
}

// targetShares are the class shares of the target that follow from the estimated weights,
// nil before the first estimate, while all weights are one.
func (w *classWeights) targetShares() []float64 {
	weights := w.tracker.Weights()
	if !slices.ContainsFunc(weights, func(weight float64) bool { return weight != 1 }) {
		return nil
	}
	floats.Mul(weights, w.source)
	return normalised(weights)
}

// normalised scales numbers, of which one is positive, to a sum of 1.
func normalised(shares []float64) []float64 {
	floats.Scale(1/floats.Sum(shares), shares)
	return shares
}

// leastWeight stands for a smaller weight in the shares of a classifier: one of 0 leaves a
// class out of the loss, and what the network then says of it follows from no share.
const leastWeight = 1e-3

// classifierShares are the class shares for which the network's probabilities speak. A
// loss that counts the source's rows of class y by a factor r_y is that of a sample of
// which a part D_S(y)·r_y is of class y; see "Predictions under other class shares" in
// docs/reference/methods.md.
func classifierShares(run config.Resolved, w *classWeights) []float64 {
	shares := make([]float64, len(w.source))
	method, _ := config.ParseMethod(run.Method)
	if !method.WeightClassification {
		copy(shares, w.source)
		return shares
	}
	for y := range shares {
		shares[y] = 1
	}
	if form.Classification(run.Losses.Classification) == form.WeightedBalanced {
		weights := w.tracker.Weights()
		if w.fixed != nil {
			weights = w.fixed
		}
		for y, weight := range weights {
			shares[y] = max(weight, leastWeight)
		}
	}
	return normalised(shares)
}

// distance is that of the estimate to the true weights, if these are known.
func (w *classWeights) distance() store.Optional[float64] {
	if w.truth == nil {
		return store.Optional[float64]{}
	}
	return store.Measured(weightest.Distance(w.tracker.Weights(), w.truth))
}

// conclude sets the weights and what is known of them in a result.
func (w *classWeights) conclude(r *store.Result) {
	r.Weights, r.TrueWeights, r.WeightDistance = w.tracker.Weights(), w.truth, w.distance()
	r.LabelDistributions = store.LabelDistributions{Source: w.source, Target: w.target}
	if w.target != nil {
		r.JSD = store.Measured(datasets.JSD(w.source, w.target))
	}
}

func float32s(values []float64) []float32 {
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return narrow
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
			Classes: len(w.source),
			Joint:   torch.ToSlice[float64](joint), Target: torch.ToSlice[float64](target),
			SourceRows: r.SourceRows, TargetRows: r.TargetRows,
		}))
	if err != nil {
		return err
	}
	w.inLosses.Set(inLosses)
	confusion, predictions, steps := r.takeIfThere(keptConfusion), r.takeIfThere(keptPredictions), r.takeIfThere(keptSteps)
	if !confusion.IsZero() && !predictions.IsZero() && !steps.IsZero() {
		w.kept = store.Statistics{
			Steps: torch.ToSlice[int64](steps), Confusion: torch.ToSlice[float32](confusion), TargetPredictions: torch.ToSlice[float32](predictions),
		}
	}
	return nil
}
