package adapt

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest"
)

// Candidate is a finished run as it is judged: what its last network says of held-out
// source rows, on which it was not trained, and of the target's rows; k classes.
type Candidate struct {
	Run          string     // its id
	SourceLogits *mat.Dense // n×k
	SourceLabels []int      // n classes, from 0
	TargetLogits *mat.Dense // m×k
}

// calibrated returns the probabilities of the rows of both domains after bias-corrected
// temperature scaling on the held-out rows, row-major. Where these lack a class, to which
// no bias can be fitted, it is a temperature alone.
func (c Candidate) calibrated() (calibration weightest.Calibration, source, target []float64, err error) {
	_, k := c.SourceLogits.Dims()
	logits := c.SourceLogits.RawMatrix().Data
	calibration, err = weightest.Calibrate("bcts", logits, c.SourceLabels, k)
	if errors.Is(err, weightest.ErrMissingClass) {
		calibration, err = weightest.Calibrate("ts", logits, c.SourceLabels, k)
	}
	if err != nil {
		return weightest.Calibration{}, nil, nil, fmt.Errorf("%s: calibration on held-out source rows: %w", c.Run, err)
	}
	return calibration, calibration.Probabilities(logits), calibration.Probabilities(c.TargetLogits.RawMatrix().Data), nil
}

// Shared is what one model, which all candidates share, says of the target's class
// shares. Estimated by each candidate itself, they would suit the candidate: a classifier
// that has collapsed explains itself perfectly.
type Shared struct {
	Run          string
	Calibration  weightest.Calibration
	TargetShares []float64 // q, sum 1
	Weights      []float64 // q over the source's shares
	// Test asks whether changed class shares alone explain what the model says of the
	// target; if not, the weights are to be read with care.
	Test weightest.LabelShift
}

// NewShared calibrates the candidate's probabilities on its held-out rows and estimates
// class shares and weights of the target by maximum likelihood ([weightest.MLLS]).
func NewShared(c Candidate) (Shared, error) {
	calibration, source, target, err := c.calibrated()
	if err != nil {
		return Shared{}, err
	}
	sample := weightest.NewSample(len(calibration.Scales))
	if err := sample.AddSource(source, c.SourceLabels); err != nil {
		return Shared{}, fmt.Errorf("%s: %w", c.Run, err)
	}
	if err := sample.AddTarget(target); err != nil {
		return Shared{}, fmt.Errorf("%s: %w", c.Run, err)
	}
	problem, err := sample.Problem(nil, nil)
	if err != nil {
		return Shared{}, fmt.Errorf("%s: %w", c.Run, err)
	}
	solution, err := weightest.MLLS(problem, weightest.MLLSSettings{})
	if err != nil {
		return Shared{}, fmt.Errorf("%s: the target's class shares: %w", c.Run, err)
	}
	test, err := weightest.LabelShiftTest(sample, weightest.LabelShiftSettings{Seed: 1})
	if err != nil {
		return Shared{}, fmt.Errorf("%s: %w", c.Run, err)
	}
	return Shared{
		Run: c.Run, Calibration: calibration,
		TargetShares: solution.TargetDistribution, Weights: solution.Weights, Test: test,
	}, nil
}

// means returns the mean of the rows of probabilities, row-major of k classes.
func means(probabilities []float64, k int) []float64 {
	sums := make([]float64, k)
	for first := 0; first < len(probabilities); first += k {
		floats.Add(sums, probabilities[first:first+k])
	}
	floats.Scale(float64(k)/float64(len(probabilities)), sums)
	return sums
}

// certainty returns the mean of the largest probability of each row.
func certainty(probabilities []float64, k int) float64 {
	sum := 0.0
	for first := 0; first < len(probabilities); first += k {
		sum += floats.Max(probabilities[first : first+k])
	}
	return sum * float64(k) / float64(len(probabilities))
}
