package model

import (
	"errors"

	"iwda/datasets"
	"iwda/weightest"
	"iwda/weightest/calibration"
)

// The calibrations of models: the first has a bias for each class, for which there must
// be a row.
const (
	BiasCorrected = "bcts-ridge"
	Temperature   = "ts"
)

// Calibrate fits a temperature and a bias for each class to logits, row-major (rows ×
// classes), of labelled rows that the network was not trained on, both shrunk as few rows ask
// for (research/comparisons/calibration.md), or a temperature alone where a class has no row.
func Calibrate(logits []float64, labels []int, classes int) (calibration.Calibration, error) {
	c, err := calibration.Calibrate(BiasCorrected, logits, labels, classes)
	if errors.Is(err, weightest.ErrMissingClass) {
		return calibration.Calibrate(Temperature, logits, labels, classes)
	}
	return c, err
}

// NewSample puts together the calibrated probabilities of those rows of the source and of
// the target's, both given as logits: what the target's class shares are estimated from.
// classifier are the shares for which the probabilities speak, which are turned into those
// of the source's rows; nil where they are these.
func NewSample(c calibration.Calibration, classifier, source []float64, labels []int, target []float64) (*weightest.Sample, error) {
	calibrated, err := calibration.NewSample(c, source, labels, target)
	if err != nil || classifier == nil {
		return calibrated, err
	}
	probabilities, _ := calibrated.Source()
	ofTarget := calibrated.Target()
	k := calibrated.Classes()
	shares := datasets.KnownLabels(labels).Shares(k)
	for _, rows := range []*[]float64{&probabilities, &ofTarget} {
		if *rows, err = weightest.Correct(*rows, shares, classifier); err != nil {
			return nil, err
		}
	}
	sample := weightest.NewSample(k)
	if err := sample.AddSource(probabilities, labels); err != nil {
		return nil, err
	}
	return sample, sample.AddTarget(ofTarget)
}

// TargetShares estimates the target's class shares and weights by maximum likelihood, one row
// of each class counted beside the target's so that none is ruled out; see [weightest.MLLS].
func TargetShares(sample *weightest.Sample) (weightest.MLLSSolution, error) {
	problem, err := sample.Problem(nil, nil)
	if err != nil {
		return weightest.MLLSSolution{}, err
	}
	return weightest.MLLS{Pseudocount: weightest.Laplace}.Solve(problem)
}
