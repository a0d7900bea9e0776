package predict

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"

	"iwda/datasets"
	"iwda/datasets/table"
	"iwda/inference/classshares"
	"iwda/internal/input"
)

// The names of class shares that follow from a model or from what is predicted. Any other
// name is that of a file.
const (
	ModelShares    = "model"    // those that the target's predictions were corrected for
	SourceShares   = "source"   // those of the source's training rows
	UniformShares  = "uniform"  // the same for each class
	EstimateShares = "estimate" // those of the input itself, by maximum likelihood
)

// Shares returns the class shares of a name, to correct probabilities for: one of those
// above, or a CSV file with the columns class and share. An estimate reads the inputs,
// which [Ensemble.Each] then reads again.
func (p *Predictor) Shares(ctx context.Context, name string, inputs []Input) ([]float64, error) {
	switch name {
	case ModelShares:
		if p.model.Shares.Target == nil {
			return nil, input.Wrong(errors.New("the model has no class shares of a target; choose others: source, uniform, estimate or a file"))
		}
		if p.model.Shares.Assumed != nil {
			return p.model.Shares.Assumed, nil
		}
		return p.model.Shares.Target, nil
	case SourceShares:
		return p.model.Shares.Source, nil
	case UniformShares:
		k := len(p.model.Classes)
		return slices.Repeat([]float64{1 / float64(k)}, k), nil
	case EstimateShares:
		return p.estimate(ctx, inputs)
	}
	shares, err := table.ReadShares(name, p.model.Classes)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("class shares are model, source, uniform, estimate or a file: %w", err)
	}
	return shares, input.Wrong(err)
}

// sampleRows bounds the rows that class shares are estimated from, and so the memory. With
// as many, a share is known to some thousandths.
const sampleRows = 100_000

// estimate returns the class shares under which the rows of the inputs, at most sampleRows
// of them drawn at random, are most likely; see [classshares.OfTarget].
func (p *Predictor) estimate(ctx context.Context, inputs []Input) ([]float64, error) {
	k := len(p.model.Classes)
	var sample []float64 // rows × k, each set of rows as likely as any other (Vitter 1985, algorithm R)
	random, seen := rand.New(datasets.Stream(0, "rows for class shares")), 0
	err := eachBatch(ctx, inputs, []*Predictor{p}, func(_ batch, logits [][]float32) error {
		probabilities, err := p.model.Probabilities(logits[0], nil)
		if err != nil {
			return err
		}
		for row := range slices.Chunk(probabilities, k) {
			seen++
			if seen <= sampleRows {
				sample = append(sample, row...)
			} else if place := random.IntN(seen); place < sampleRows {
				copy(sample[place*k:], row)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return classshares.OfTarget(sample, p.model.Shares.Classifier)
}
