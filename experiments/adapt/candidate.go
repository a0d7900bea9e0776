package adapt

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	"iwda/experiments/model"
	"iwda/selection"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/shifttest"
)

// Candidate is a finished run as it is judged: what its last network says of held-out
// source rows, on which it was not trained, and of the target's rows; k classes.
type Candidate struct {
	Run          string     // its id
	SourceLogits *mat.Dense // n×k
	SourceLabels []int      // n classes, from 0
	TargetLogits *mat.Dense // m×k
}

// calibrated returns what criteria read of the candidate, its logits calibrated on the
// held-out rows.
func (c Candidate) calibrated() (selection.Input, calibration.Calibration, error) {
	in, fitted, err := selection.Calibrated(selection.Input{SourceLogits: c.SourceLogits, SourceLabels: c.SourceLabels, TargetLogits: c.TargetLogits})
	if err != nil {
		return selection.Input{}, calibration.Calibration{}, fmt.Errorf("%s: %w", c.Run, err)
	}
	return in, fitted, nil
}

// targetShares estimates class shares of the target ([model.TargetShares]) from the candidate's
// calibrated logits, of which it returns the sample.
func (c Candidate) targetShares(calibrated selection.Input) (*weightest.Sample, []float64, error) {
	sample, err := calibrated.Sample()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.Run, err)
	}
	solution, err := model.TargetShares(sample)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the target's class shares: %w", c.Run, err)
	}
	return sample, solution.TargetDistribution, nil
}

// Shared is what one model, which all candidates share, says of the target's class
// shares. Estimated by each candidate itself, they would suit the candidate: a classifier
// that has collapsed explains itself perfectly.
type Shared struct {
	Run          string
	Calibration  calibration.Calibration
	TargetShares []float64 // q, sum 1
	// Test asks whether changed class shares alone explain what the model says of the
	// target; if not, these shares are to be read with care.
	Test shifttest.LabelShift
}

// NewShared calibrates the candidate's probabilities on its held-out rows and estimates
// class shares of the target ([model.TargetShares]).
func NewShared(c Candidate) (Shared, error) {
	in, fitted, err := c.calibrated()
	if err != nil {
		return Shared{}, err
	}
	sample, shares, err := c.targetShares(in)
	if err != nil {
		return Shared{}, err
	}
	test, err := shifttest.LabelShiftTest(sample, shifttest.LabelShiftSettings{Seed: 1})
	if err != nil {
		return Shared{}, fmt.Errorf("%s: %w", c.Run, err)
	}
	return Shared{
		Run: c.Run, Calibration: fitted,
		TargetShares: shares, Test: test,
	}, nil
}

// weightsOver returns the class weights over the shares of these labels, so that the mean of
// weighted losses is Σ_y q_y times the mean loss of class y. A class without a row, whose loss
// nobody knows, has 0.
func (s Shared) weightsOver(labels []int) []float64 {
	return weightest.Ratios(s.TargetShares, datasets.KnownLabels(labels).Shares(len(s.TargetShares)))
}
