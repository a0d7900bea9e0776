package weightest

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNoStatistics says that weights were asked for before both domains had a row.
var ErrNoStatistics = errors.New("weightest: no statistics to estimate weights from")

// TrackerSettings say how weights follow the estimates while a model trains.
type TrackerSettings struct {
	// Estimator computes the weights of one update; nil is the paper's, QP.
	Estimator Estimator
	// EMA is the share of the former weights that an update keeps, in [0, 1); the
	// paper's experiments use 0.5, 0 takes every estimate as it is.
	EMA float64
	// Warmup is the number of updates at the start that leave the weights at one and
	// only clear the statistics.
	Warmup int
	// MinSingularValue: a confusion matrix whose smallest singular value is below it
	// leaves the weights as they are; 0 accepts every matrix.
	MinSingularValue float64
}

func (s TrackerSettings) validate() error {
	switch {
	case !(s.EMA >= 0 && s.EMA < 1):
		return fmt.Errorf("weightest: the share of former weights is %v; it must be in [0, 1)", s.EMA)
	case s.Warmup < 0:
		return fmt.Errorf("weightest: the warm-up is %d updates; it must not be negative", s.Warmup)
	case !(s.MinSingularValue >= 0):
		return fmt.Errorf("weightest: the limit of singular values is %v; it must not be negative", s.MinSingularValue)
	}
	return nil
}

// Tracker holds the class weights w of a training run. They start at one, and each
// update moves them towards an estimate:
//
//	w ← (1 - EMA)·estimate + EMA·w.
type Tracker struct {
	settings TrackerSettings
	weights  []float64
	updates  int
}

// NewTracker returns a tracker whose weights are one. Impossible settings are an
// error. It panics unless classes ≥ 1.
func NewTracker(classes int, settings TrackerSettings) (*Tracker, error) {
	if classes < 1 {
		panic(fmt.Sprintf("weightest: a tracker of %d classes", classes))
	}
	if err := settings.validate(); err != nil {
		return nil, err
	}
	if settings.Estimator == nil {
		settings.Estimator = QP{}
	}
	return &Tracker{settings: settings, weights: slices.Repeat([]float64{1}, classes)}, nil
}

// Weights returns a copy of w, length k.
func (t *Tracker) Weights() []float64 { return slices.Clone(t.weights) }

// Update is the record of one update.
type Update struct {
	Weights []float64 // w after the update
	// SmallestSingularValue is that of C.
	SmallestSingularValue float64
	// EffectiveSampleSize is that of the weights after the update.
	EffectiveSampleSize float64
	// Changed says whether the estimate entered the weights.
	Changed bool
	// Note says why the weights did not change, or is the estimator's warning; it is
	// empty where there is nothing to say.
	Note string
}

// Update estimates weights from what the accumulator collected, moves w towards them
// and resets the accumulator. sourceDistribution is D_S, length k.
//
// During the warm-up, and if C's smallest singular value is below the limit, w stays and the
// record's Note says why.
//
// ErrNoStatistics says that a domain has no row yet; the estimator's errors are returned. An
// error leaves the tracker and the accumulator as they were. Update panics if the numbers of
// classes differ.
func (t *Tracker) Update(statistics *Accumulator, sourceDistribution []float64) (Update, error) {
	k := len(t.weights)
	if statistics.Classes() != k || len(sourceDistribution) != k {
		panic(fmt.Sprintf("weightest: %d weights, statistics of %d classes, a source distribution of %d",
			k, statistics.Classes(), len(sourceDistribution)))
	}
	if err := requireRows(statistics.sums.SourceRows, statistics.sums.TargetRows); err != nil {
		return Update{}, err
	}
	record, err := t.follow(Problem{
		Confusion:          statistics.Confusion(),
		TargetPredictions:  statistics.TargetPredictions(),
		SourceDistribution: sourceDistribution,
	})
	if err == nil {
		statistics.Reset()
	}
	return record, err
}

// follow estimates weights from a problem of as many classes and moves w towards them.
func (t *Tracker) follow(p Problem) (Update, error) {
	k := len(t.weights)
	if err := p.Validate(); err != nil {
		return Update{}, err
	}
	smallest := smallestSingularValue(p.Confusion)
	record := Update{SmallestSingularValue: smallest}

	switch {
	case t.updates < t.settings.Warmup:
		record.Note = fmt.Sprintf("warm-up: update %d of %d only clears the statistics", t.updates+1, t.settings.Warmup)
	case t.settings.MinSingularValue > 0 && !(smallest >= t.settings.MinSingularValue):
		record.Note = fmt.Sprintf("the smallest singular value of C, %.3g, is below the limit %.3g: the former weights stay",
			smallest, t.settings.MinSingularValue)
	default:
		estimate, err := t.settings.Estimator.Estimate(p)
		switch {
		case err != nil:
			return Update{}, err
		case len(estimate.Weights) != k || firstInvalid(estimate.Weights) >= 0:
			return Update{}, fmt.Errorf("weightest: the estimator returned %v; it must return %d finite weights that are not negative",
				estimate.Weights, k)
		default:
			for j, former := range t.weights {
				t.weights[j] = (1-t.settings.EMA)*estimate.Weights[j] + t.settings.EMA*former
			}
			record.Changed, record.Note = true, estimate.Warning
		}
	}
	t.updates++
	record.Weights = t.Weights()
	record.EffectiveSampleSize = EffectiveSampleSize(t.weights, p.SourceDistribution)
	return record, nil
}

// TrackerState is all that a Tracker remembers besides its settings, for checkpoints.
type TrackerState struct {
	Weights []float64 // w, length k
	Updates int       // number of updates so far, those of the warm-up included
}

// State returns a copy of the tracker's state.
func (t *Tracker) State() TrackerState {
	return TrackerState{Weights: t.Weights(), Updates: t.updates}
}

// Restore sets the state to a copy of s, bit by bit. A state of another number of
// classes, or one with impossible values, is an error and changes nothing.
func (t *Tracker) Restore(s TrackerState) error {
	if len(s.Weights) != len(t.weights) {
		return fmt.Errorf("weightest: the saved weights are of %d classes; the tracker has %d", len(s.Weights), len(t.weights))
	}
	if j := firstInvalid(s.Weights); j >= 0 {
		return fmt.Errorf("weightest: the saved weight of class %d is %v", j, s.Weights[j])
	}
	if s.Updates < 0 {
		return fmt.Errorf("weightest: the saved weights went through %d updates", s.Updates)
	}
	copy(t.weights, s.Weights)
	t.updates = s.Updates
	return nil
}
