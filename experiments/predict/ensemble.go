package predict

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"iwda/experiments/model"
)

// Ensemble predicts with several models: the probabilities of a row are the mean of its
// members', each calibrated and corrected for class shares by itself.
type Ensemble struct {
	folders []string
	members []*Predictor
}

// NewEnsemble returns the ensemble of members as [model.OpenEnsemble] returns them, and
// moves their networks to the device.
func NewEnsemble(members []model.Member, options Options) *Ensemble {
	e := new(Ensemble)
	for _, m := range members {
		e.folders = append(e.folders, m.Folder)
		e.members = append(e.members, New(m.Model, options))
	}
	return e
}

// Shares returns, for each member, the class shares of a name, as [Predictor.Shares] does.
// An estimate reads the inputs once for each member.
func (e *Ensemble) Shares(ctx context.Context, name string, inputs []Input) ([][]float64, error) {
	var all [][]float64 // members × classes
	for i, p := range e.members {
		shares, err := p.Shares(ctx, name, inputs)
		if err != nil && len(e.members) > 1 {
			err = fmt.Errorf("%s: %w", e.folders[i], err)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, shares)
	}
	return all, nil
}

// Each predicts all rows of the inputs as [Predictor.Each] does, each batch of them with
// every member; shares has those of each member.
func (e *Ensemble) Each(ctx context.Context, inputs []Input, shares [][]float64, take func(id string, probabilities []float32) error) error {
	k := len(e.members[0].model.Classes)
	narrow := make([]float32, k)
	return eachBatch(ctx, inputs, e.members, func(b batch, logits [][]float32) error {
		mean, err := e.mean(logits, shares)
		if err != nil {
			return err
		}
		for i := range len(mean) / k {
			for j, v := range mean[i*k : (i+1)*k] {
				narrow[j] = float32(v)
			}
			if err := take(b.id(i), narrow); err != nil {
				return err
			}
		}
		return nil
	})
}

// mean returns the mean of the members' probabilities, row-major (rows × classes), from
// their logits in the same form.
func (e *Ensemble) mean(logits [][]float32, shares [][]float64) ([]float64, error) {
	var mean []float64
	for i, p := range e.members {
		probabilities, err := p.model.Probabilities(logits[i], shares[i])
		if err != nil {
			return nil, err
		}
		if i == 0 {
			mean = probabilities
		} else {
			floats.Add(mean, probabilities)
		}
	}
	floats.Scale(1/float64(len(e.members)), mean)
	return mean, nil
}
