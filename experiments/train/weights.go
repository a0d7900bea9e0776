package train

import (
	"errors"
	"fmt"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/torch"
	"iwda/weightest"
)

// initWeights makes what estimates the class weights. Every method estimates them, to
// show in its results; only those with estimated weights use them.
func (t *trainer) initWeights() error {
	w := t.run.Weights
	estimator, err := weightest.NewEstimator(w.Estimator)
	if err != nil {
		return err
	}
	classes := len(t.sourceDistribution)
	t.weights, err = weightest.NewTracker(classes, weightest.TrackerSettings{
		Estimator: estimator, EMA: w.EMA, Warmup: w.Warmup, Cap: w.Cap, MinSingularValue: w.MinSingularValue,
	})
	if err != nil {
		return err
	}
	t.statistics = weightest.NewAccumulator(classes)
	if t.trueWeights, err = weightest.Oracle(t.sourceDistribution, t.targetDistribution); err != nil {
		return err
	}
	inLosses := t.weights.Weights()
	if t.method.Weights == config.OracleWeights {
		inLosses = t.trueWeights
	}
	t.lossWeights = t.vector(inLosses)
	return nil
}

// updateWeights moves the class weights towards a new estimate after every so many
// passes over the source. An estimate that cannot be had leaves them as they are, and
// the statistics go on.
func (t *trainer) updateWeights(p Position) error {
	if p.Step%(t.run.Weights.Every*t.data.feed.passSteps()) != 0 {
		return nil
	}
	update, err := t.weights.Update(t.statistics, t.sourceDistribution)
	if errors.Is(err, weightest.ErrNoConvergence) || errors.Is(err, weightest.ErrInfeasible) {
		update = weightest.Update{
			Weights:             t.weights.Weights(),
			EffectiveSampleSize: weightest.EffectiveSampleSize(t.weights.Weights(), t.sourceDistribution),
			Note:                fmt.Sprintf("%v: the former weights stay", err),
		}
	} else if err != nil {
		return err
	}
	distance := weightest.Distance(update.Weights, t.trueWeights)
	t.record.updates = append(t.record.updates, store.WeightUpdate{
		Epoch: p.Epoch, Step: p.Step,
		Weights: update.Weights, Distance: distance,
		SmallestSingular: update.SmallestSingularValue, EffectiveSampleSize: update.EffectiveSampleSize,
		Note: update.Note,
	})
	note := ""
	if update.Note != "" {
		note = "; " + update.Note
	}
	t.logf("epoch %d: weights %.2f, distance to the true ones %.3f, smallest singular value of C %.4f, effective sample size %.3f%s",
		p.Epoch, update.Weights, distance, update.SmallestSingularValue, update.EffectiveSampleSize, note)
	if update.Changed && t.method.Weights == config.EstimatedWeights {
		torch.CopyFromSlice(t.lossWeights, float32s(update.Weights))
	}
	return nil
}

func float32s(values []float64) []float32 {
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return narrow
}
