package intervals

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

// BootstrapSettings are the options of Bootstrap.
type BootstrapSettings struct {
	Replicas int     // 0 means 500
	Level    float64 // 0 means 0.95
	Seed     uint64
	// SourceRows are the numbers of the sample's source rows, as Replicas have them; nil
	// means 0, 1, ….
	SourceRows []uint64
}

// Bootstrap returns intervals of an estimator's shares and weights: source and target
// rows are both resampled, so that the intervals know of the errors of C, mu and D_S
// alike, the estimator runs on every resample, and the intervals lie between percentiles
// of the estimates (Efron 1979). Calibration is taken as it is: the sample's probabilities
// are resampled after it.
//
// For an estimator that needs no rows the result is that of Replicas to which the
// sample's rows were added with these numbers, those of the target from 0. The error is that of the estimator on the
// sample itself; see Replicas.Intervals for resamples without an estimate.
func Bootstrap(s *weightest.Sample, e weightest.Estimator, settings BootstrapSettings) (Uncertainty, error) {
	if settings.Replicas <= 0 {
		settings.Replicas = 500
	}
	if settings.Level <= 0 {
		settings.Level = defaultLevel
	}
	p, err := s.Problem()
	if err != nil {
		return Uncertainty{}, err
	}
	if resampler, is := e.(weightest.Resampler); is {
		e, err = resampler.OnResamples(p)
	} else {
		_, err = e.Estimate(p)
	}
	if err != nil {
		return Uncertainty{}, err
	}
	replicas := NewReplicas(s.Classes(), settings.Replicas, settings.Seed)
	source, labels := s.Source()
	if settings.SourceRows == nil {
		settings.SourceRows = Numbers(0, len(labels))
	}
	targetRows := Numbers(0, len(s.Target())/s.Classes())
	if err := errors.Join(replicas.AddSource(source, labels, settings.SourceRows), replicas.AddTarget(s.Target(), targetRows)); err != nil {
		return Uncertainty{}, err
	}
	keys := make([]uint64, len(targetRows))
	rowKeys(keys, settings.Seed, targetDomain, targetRows)
	return replicas.intervals(e, settings.Level, func(replica int) (weightest.Problem, error) {
		p, err := replicas.sums[replica].Problem()
		counts := make([]int, len(keys))
		poissonCounts(counts, keys, replica)
		p.Rows = &weightest.Rows{Probabilities: s.Target(), Counts: counts}
		return p, err
	})
}

// Intervals runs the estimator on every replica and returns the intervals between
// percentiles of its estimates, further apart where a class has few source rows: see
// resampledReach. An estimator that reads target rows returns an error
// here: see Bootstrap.
//
// A resample can be one that has no estimate, most of all where a class has few source
// rows: it is left out, and the warning says how many were. The error of the first is
// returned where they are more than half.
//
// Where the problem has several solutions the intervals are wider by their Ambiguity.
func (r *Replicas) Intervals(e weightest.Estimator, level float64) (Uncertainty, error) {
	return r.intervals(e, level, func(replica int) (weightest.Problem, error) { return r.sums[replica].Problem() })
}

func (r *Replicas) intervals(e weightest.Estimator, level float64, problem func(replica int) (weightest.Problem, error)) (Uncertainty, error) {
	estimates := make([]weightest.Estimate, len(r.sums))
	failures := make([]error, len(r.sums))
	panels.Each(len(r.sums), func(replica int) {
		p, err := problem(replica)
		if err == nil {
			estimates[replica], err = e.Estimate(p)
		}
		failures[replica] = err
	})
	var shares, weights [][]float64
	var failure error
	for i, estimate := range estimates {
		if failures[i] == nil {
			shares = append(shares, estimate.TargetDistribution)
			weights = append(weights, estimate.Weights)
		} else if failure == nil {
			failure = failures[i]
		}
	}
	failed := len(estimates) - len(weights)
	if 2*failed > len(estimates) {
		return Uncertainty{}, fmt.Errorf("intervals: %d of %d resamples have no estimate: %w", failed, len(estimates), failure)
	}
	rows := r.meanSourceRows()
	reach := resampledReach(rows)
	result := Uncertainty{
		Level:   level,
		Shares:  drawnIntervals(shares, level, 1, reach),
		Weights: drawnIntervals(weights, level, math.Inf(1), reach),
	}
	if failed > 0 {
		result.warn(fmt.Sprintf("%d of %d resamples have no estimate and are left out: %v", failed, len(estimates), failure))
	}
	ambiguity, err := r.ambiguity(e, problem)
	if err != nil {
		return Uncertainty{}, err
	}
	floats.Scale(1/floats.Sum(rows), rows)
	result.widen(ambiguity, rows)
	return result, nil
}

// ambiguity returns the largest of the first resamples, nil where one has one solution: what
// the sample leaves open, every resample does.
func (r *Replicas) ambiguity(e weightest.Estimator, problem func(replica int) (weightest.Problem, error)) (largest []float64, err error) {
	const first = 20
	for replica := range min(first, len(r.sums)) {
		p, err := problem(replica)
		if err != nil {
			continue // it has no estimate either
		}
		here, err := weightest.Ambiguity(e, p)
		if here == nil || err != nil {
			return nil, err
		}
		if largest == nil {
			largest = here
		}
		for j, bound := range here {
			largest[j] = math.Max(largest[j], bound)
		}
	}
	return largest, nil
}

// meanSourceRows returns the mean over the replicas of each class's number of source rows,
// length k: near the number that was added.
func (r *Replicas) meanSourceRows() []float64 {
	k := r.sums[0].Classes()
	mean := make([]float64, k)
	for _, s := range r.sums {
		source, _ := s.HardCounts()
		for i, rows := range source {
			mean[i/k] += float64(rows) / float64(len(r.sums))
		}
	}
	return mean
}
