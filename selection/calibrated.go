package selection

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest"
	"iwda/weightest/calibration"
)

// Calibrated returns the input with the logits of both domains after bias-corrected
// temperature scaling on the held-out source rows, shrunk as few of them ask for (bcts-ridge of
// weightest.Calibrate), so that being too sure, or sure of a class, does not decide between
// candidates. Where these rows lack a class, to which no
// bias can be fitted, it is a temperature alone.
func Calibrated(in Input) (Input, calibration.Calibration, error) {
	c, err := calibrationOf(in)
	if err != nil {
		return Input{}, calibration.Calibration{}, err
	}
	in.SourceLogits, in.TargetLogits = scaled(in.SourceLogits, c), scaled(in.TargetLogits, c)
	return in, c, nil
}

func calibrationOf(in Input) (calibration.Calibration, error) {
	if err := in.validate(); err != nil {
		return calibration.Calibration{}, fmt.Errorf("selection: %w", err)
	}
	if in.SourceLogits == nil {
		return calibration.Calibration{}, fmt.Errorf("selection: %w: calibration needs %s", ErrMissing, sourceRows.what)
	}
	logits, k := valuesOf(in.SourceLogits), in.classes()
	c, err := calibration.Calibrate("bcts-ridge", logits, in.SourceLabels, k)
	if errors.Is(err, weightest.ErrMissingClass) {
		c, err = calibration.Calibrate("ts", logits, in.SourceLabels, k)
	}
	if err != nil {
		return calibration.Calibration{}, fmt.Errorf("calibration on held-out source rows: %w", err)
	}
	return c, nil
}

// valuesOf returns the values of a matrix, row-major without gaps: its own or a copy.
func valuesOf(m *mat.Dense) []float64 {
	if raw := m.RawMatrix(); raw.Stride == raw.Cols {
		return raw.Data
	}
	return mat.DenseCopyOf(m).RawMatrix().Data
}

// scaled returns the logits s∘z + b, nil of nil.
func scaled(logits *mat.Dense, c calibration.Calibration) *mat.Dense {
	if logits == nil {
		return nil
	}
	var z mat.Dense
	z.Apply(func(_, j int, v float64) float64 { return c.Scales[j]*v + c.Biases[j] }, logits)
	return &z
}

// Predicted returns the mean probabilities of the classes over rows of logits (n×k), and the
// mean of each row's largest probability.
func Predicted(logits *mat.Dense) (shares []float64, certainty float64) {
	p := softmax(logits, 1)
	rows, _ := p.Dims()
	for i := range rows {
		certainty += floats.Max(p.RawRowView(i)) / float64(rows)
	}
	return columnMeans(p), certainty
}

// Sample returns the probabilities of the input's logits with the labels of the source's
// rows, for package weightest.
func (in Input) Sample() (*weightest.Sample, error) {
	sample := weightest.NewSample(in.classes())
	if err := sample.AddSource(softmax(in.SourceLogits, 1).RawMatrix().Data, in.SourceLabels); err != nil {
		return nil, err
	}
	if err := sample.AddTarget(softmax(in.TargetLogits, 1).RawMatrix().Data); err != nil {
		return nil, err
	}
	return sample, nil
}

// TargetShares estimates the target's class shares and weights from a sample by maximum
// likelihood, one row of each class counted beside the target's so that none is ruled out; see
// [weightest.MLLS].
func TargetShares(sample *weightest.Sample) (weightest.MLLSSolution, error) {
	problem, err := sample.Problem(nil, nil)
	if err != nil {
		return weightest.MLLSSolution{}, err
	}
	return weightest.MLLS{Pseudocount: weightest.Laplace}.Solve(problem)
}
