package labelshift

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/classshares"
	"iwda/weightest"
	"iwda/weightest/calibration"
)

// Comparison is what every estimator says after every calibration.
type Comparison struct {
	*Analysis // by the settings, without intervals
	Results   []Result
}

// Result is what one estimator says after one calibration.
type Result struct {
	Estimator, Calibration string
	// Shares and Weights are those of the target, length k; nil where there are none,
	// and a note of the comparison says why.
	Shares, Weights []float64
	EffectiveRows   float64 // NaN where there are none
	// Distance is half the sum of the absolute differences between the shares and those
	// by the settings, the total variation; NaN where there are none.
	Distance float64
}

// Compare estimates the target's class shares by all estimators after all calibrations. One
// without an optimum is left out: what is fitted in its place has results of its own.
func Compare(source, target *Predictions, s Settings) (*Comparison, error) {
	s.Replicas = 0
	analysis, err := Analyse(source, target, s)
	if err != nil {
		return nil, err
	}
	c, asked := &Comparison{Analysis: analysis}, s.Calibration
	for _, s.Calibration = range calibration.Names() {
		classifier, err := s.calibrate(source)
		if err != nil {
			c.note("%s: %v.", s.Calibration, err)
			continue
		}
		if classifier.Note != "" && s.Calibration != asked {
			c.note("Calibration: %s.", classifier.Note)
		}
		if classifier.Form != s.Calibration && slices.Contains(calibration.Names(), classifier.Form) {
			continue
		}
		sample, err := classifier.Sample(source.rows(), source.labels, target.rows())
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", source.Name, target.Name, err)
		}
		problem, err := sample.Problem()
		if err != nil {
			return nil, err
		}
		for _, name := range weightest.EstimatorNames() {
			c.Results = append(c.Results, c.result(name, classifier.Form, problem))
		}
	}
	return c, nil
}

// result runs one estimator.
func (c *Comparison) result(name, calibration string, p weightest.Problem) Result {
	r := Result{Estimator: name, Calibration: calibration, EffectiveRows: math.NaN(), Distance: math.NaN()}
	estimator, err := classshares.NewEstimator(name)
	var estimate weightest.Estimate
	if err == nil {
		estimate, err = estimator.Estimate(p)
	}
	if err != nil {
		c.note("%s after %s: %v.", name, calibration, err)
		return r
	}
	r.Shares, r.Weights = estimate.TargetDistribution, estimate.Weights
	r.EffectiveRows = float64(c.SourceRows) * weightest.EffectiveSampleSize(r.Weights, c.SourceShares)
	r.Distance = floats.Distance(r.Shares, c.Estimate.TargetDistribution, 1) / 2
	return r
}
