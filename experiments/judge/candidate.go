package judge

import (
	"fmt"
	"path"

	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	"iwda/experiments/store"
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
	// TargetLabels are the m classes of the target's rows, -1 where one is not known; nil where
	// none is. They serve to measure alone ([Comparison.Ensembles]).
	TargetLabels []int
	// Known is what the run knows of itself without target labels; it may be nil.
	Known *store.WithoutLabels
}

// Read reads what a finished run says of both domains. The error wraps fs.ErrNotExist where it
// held no source rows out.
func Read(run store.Run) (Candidate, error) {
	o, err := run.Dir.ReadOutputs()
	if err != nil {
		return Candidate{}, err
	}
	if len(o.HeldOut) == 0 || len(o.Target) == 0 {
		return Candidate{}, fmt.Errorf("%s: no rows of one domain", run.Dir.Path(store.OutputsFile))
	}
	logits := func(values []float32) *mat.Dense {
		return mat.NewDense(len(values)/o.Classes, o.Classes, weightest.Widen(values))
	}
	return Candidate{
		Run:          run.Result.ID,
		SourceLogits: logits(o.HeldOut), SourceLabels: o.HeldOutLabels,
		TargetLogits: logits(o.Target), TargetLabels: o.TargetLabels,
		Known: run.Result.WithoutLabels,
	}, nil
}

// method is that of the run, by its id.
func (c Candidate) method() string { return path.Base(path.Dir(c.Run)) }

// input is what criteria read of the candidate as its network gives it.
func (c Candidate) input() selection.Input {
	return selection.Input{SourceLogits: c.SourceLogits, SourceLabels: c.SourceLabels, TargetLogits: c.TargetLogits}
}

// TargetRisk is [selection.TargetRisk] by the class shares that the candidate estimates itself:
// no candidates are to be compared by it that differ in more than what they are given to read.
func (c Candidate) TargetRisk() (float64, error) {
	in, calibration, err := selection.Calibrated(c.input())
	if err != nil {
		return 0, err
	}
	shared, _, err := estimated(c.Run, in, calibration)
	if err != nil {
		return 0, err
	}
	in.ClassWeights = shared.weightsOver(c.SourceLabels)
	return selection.TargetRisk.Value(in)
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

// estimated returns the class shares of the target that follow from a run's calibrated logits,
// without a test, and the sample behind them.
func estimated(run string, calibrated selection.Input, calibration calibration.Calibration) (Shared, *weightest.Sample, error) {
	sample, err := calibrated.Sample()
	if err != nil {
		return Shared{}, nil, fmt.Errorf("%s: %w", run, err)
	}
	solution, err := selection.TargetShares(sample)
	if err != nil {
		return Shared{}, nil, fmt.Errorf("%s: the target's class shares: %w", run, err)
	}
	return Shared{Run: run, Calibration: calibration, TargetShares: solution.TargetDistribution}, sample, nil
}

// weightsOver returns the class weights over the shares of these labels, so that the mean of
// weighted losses is Σ_y q_y times the mean loss of class y. A class without a row, whose loss
// nobody knows, has 0.
func (s Shared) weightsOver(labels []int) []float64 {
	return weightest.Ratios(s.TargetShares, datasets.KnownLabels(labels).Shares(len(s.TargetShares)))
}
