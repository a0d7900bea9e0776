package main

import (
	"errors"
	"fmt"
	"math"

	"iwda/internal/gaussians"
	"iwda/weightest"
	"iwda/weightest/intervals"
)

const (
	level    = 0.95
	replicas = 500
)

const coverageHead = `| k | n, m | draws | intervals | shares | weights | shares, jointly | weights, jointly | mean width of a share |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |`

// kinds are the intervals that intervalsOf returns, in its order.
var kinds = []string{
	"bootstrap, bbse-hard",
	"bootstrap, bbse-soft",
	"bootstrap, mlls",
}

func intervalsOf(s *weightest.Sample, seed uint64) ([]intervals.Uncertainty, error) {
	var result []intervals.Uncertainty
	estimators := make(map[string]weightest.Estimator)
	for _, name := range []string{"bbse-hard", "bbse-soft", "mlls"} {
		var err error
		if estimators[name], err = weightest.NewEstimator(name); err != nil {
			return nil, err
		}
	}
	resamples := intervals.NewReplicas(s.Classes(), replicas, seed)
	probabilities, labels := s.Source()
	if err := errors.Join(resamples.AddSource(probabilities, labels, intervals.Numbers(0, len(labels))), resamples.AddTarget(s.Target(), intervals.Numbers(0, len(s.Target())/s.Classes()))); err != nil {
		return nil, err
	}
	for _, name := range []string{"bbse-hard", "bbse-soft"} {
		bound, err := resamples.Intervals(estimators[name], level)
		if err != nil {
			return nil, err
		}
		result = append(result, bound)
	}
	bound, err := intervals.Bootstrap(s, estimators["mlls"], intervals.BootstrapSettings{Replicas: replicas, Level: level, Seed: seed})
	if err != nil {
		return nil, err
	}
	return append(result, bound), nil
}

// hits counts intervals that hold the truth.
type hits struct {
	draws    int
	all      [2]float64 // joint intervals of shares and of weights
	perClass [2][]float64
	width    float64
}

func measureCoverage(c cell, draws int) ([]string, error) {
	problem := gaussians.Rising(c.classes)
	truth := [2][]float64{problem.Target, make([]float64, c.classes)}
	for y, q := range problem.Target {
		truth[1][y] = q / problem.Source[y]
	}
	counted := make([]hits, len(kinds))
	for i := range counted {
		counted[i].perClass = [2][]float64{make([]float64, c.classes), make([]float64, c.classes)}
	}
	for seed := range draws {
		sample, err := c.draw(problem, seed)
		if err != nil {
			return nil, err
		}
		intervals, err := intervalsOf(sample, uint64(seed))
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		for i, u := range intervals {
			counted[i].add(u, truth)
		}
	}
	var lines []string
	for i, kind := range kinds {
		lines = append(lines, fmt.Sprintf("| %d | %s | %d | %s | %s |", c.classes, c.rows(), draws, kind, counted[i]))
	}
	return lines, nil
}

func (h *hits) add(u intervals.Uncertainty, truth [2][]float64) {
	h.draws++
	for i, intervals := range [2]intervals.Intervals{u.Shares, u.Weights} {
		all := 1.0
		for y, v := range truth[i] {
			if e := intervals.Each[y]; e.Low <= v && v <= e.High {
				h.perClass[i][y]++
			}
			if j := intervals.Joint[y]; !(j.Low <= v && v <= j.High) {
				all = 0
			}
		}
		h.all[i] += all
	}
	for _, e := range u.Shares.Each {
		h.width += (e.High - e.Low) / float64(len(u.Shares.Each))
	}
}

// String gives the mean coverage over the classes in percent, with the lowest and the
// highest of a class, and the joint coverage.
func (h hits) String() string {
	n := float64(h.draws)
	each := func(i int) string {
		lowest, highest, sum := math.Inf(1), 0.0, 0.0
		for _, count := range h.perClass[i] {
			lowest, highest, sum = math.Min(lowest, count), math.Max(highest, count), sum+count
		}
		return fmt.Sprintf("%.1f (%.1f–%.1f)", 100*sum/n/float64(len(h.perClass[i])), 100*lowest/n, 100*highest/n)
	}
	return fmt.Sprintf("%s | %s | %.1f | %.1f | %.3f", each(0), each(1), 100*h.all[0]/n, 100*h.all[1]/n, h.width/n)
}
