package selection

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"iwda/weightest"
	"iwda/weightest/calibration"
)

// Calibrated returns the input with the logits of both domains after bias-corrected
// temperature scaling on the held-out source rows, shrunk as few of them ask for (bcts-ridge of
// calibration.Calibrate), so that being too sure, or sure of a class, does not decide between
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

// Evidence is what to keep of a candidate with k classes: its class-weighted risk and the
// divergence of its class shares follow for whatever shares of the target, so that many
// candidates can be compared long after they were measured, under shares that one of them
// gives.
type Evidence struct {
	Losses    []float64 // mean cross-entropy of the held-out source rows of each class (k)
	Errors    []float64 // standard errors of these means (k)
	Shares    []float64 // mean probabilities on the target, p̄ (k)
	Estimated []float64 // the target's class shares by maximum likelihood, with Laplace's rule (k); nil where that failed
}

// Gather returns the evidence of a candidate, whose logits should be calibrated. Every class
// must have a held-out source row.
func Gather(in Input) (Evidence, error) {
	for _, n := range []need{sourceRows, targetRows} {
		if !n.there(in) {
			return Evidence{}, fmt.Errorf("selection: %w: evidence needs %s", ErrMissing, n.what)
		}
	}
	if err := in.validate(); err != nil {
		return Evidence{}, fmt.Errorf("selection: %w", err)
	}
	sample, err := in.Sample()
	if err != nil {
		return Evidence{}, fmt.Errorf("selection: %w", err)
	}
	e := Evidence{Shares: columnMeans(softmax(in.TargetLogits, 1))}
	ofClasses := make([][]float64, in.classes())
	for i, loss := range crossEntropies(in.SourceLogits, in.SourceLabels) {
		ofClasses[in.SourceLabels[i]] = append(ofClasses[in.SourceLabels[i]], loss)
	}
	for class, losses := range ofClasses {
		if len(losses) == 0 {
			return Evidence{}, fmt.Errorf("selection: %w: no held-out source row of class %d", ErrMissing, class)
		}
		average, standardError := meanWithError(losses)
		e.Losses, e.Errors = append(e.Losses, average), append(e.Errors, standardError)
	}
	problem, err := sample.Problem(nil, nil)
	if err != nil {
		return Evidence{}, fmt.Errorf("selection: %w", err)
	}
	if solution, err := (weightest.MLLS{Pseudocount: weightest.Laplace}).Solve(problem); err == nil {
		e.Estimated = solution.TargetDistribution
	}
	return e, nil
}

// Risk is [ClassWeightedRisk] under those class shares q of the target,
// Σ_y q_y · (mean loss of class y): w_y is q_y over the share of y in the held-out rows.
func (e Evidence) Risk(q []float64) float64 { return floats.Dot(q, e.Losses) }

// RiskError is the standard error of Risk over draws of the held-out rows, whose number of each
// class is taken as given: sqrt(Σ_y q_y² · (error of class y)²).
func (e Evidence) RiskError(q []float64) float64 {
	variance := 0.0
	for class, share := range q {
		variance += share * share * e.Errors[class] * e.Errors[class]
	}
	return math.Sqrt(variance)
}

// meanWithError returns the mean of losses and its standard error. That of a single loss is
// the loss itself, which is what it is where losses are exponentially distributed.
func meanWithError(losses []float64) (average, standardError float64) {
	if len(losses) == 1 {
		return losses[0], losses[0]
	}
	average, deviation := stat.MeanStdDev(losses, nil)
	return average, stat.StdErr(deviation, float64(len(losses)))
}
