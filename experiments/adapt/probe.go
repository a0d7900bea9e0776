package adapt

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	"iwda/datasets/normalise"
)

// probe is a softmax regression of k classes on d columns, which says how well a small network
// can learn from rows as they are normalised, in a second and not a minute.
type probe struct {
	weights *mat.Dense // k×d
	biases  []float64
}

// How a probe learns: as the networks of [Data.Experiment] do, with plain cross-entropy.
const (
	probeSteps    = 1200
	probeBatch    = 128
	probeRate     = 0.02
	probeHalvings = 3 // of the rate
	probeMomentum = 0.9
	probeDecay    = 5e-4
)

// fitProbe trains one by stochastic gradient descent on a set all of whose rows have labels.
func fitProbe(set datasets.Set, random *rand.Rand) probe {
	k, d, size := len(set.ClassNames()), datasets.Size(set.Shape()), min(probeBatch, set.Len())
	labels, rows := datasets.LabelsOf(set).Classes(), normalise.Values(set)
	p := probe{mat.NewDense(k, d, nil), make([]float64, k)}
	batch, gradient, velocity := mat.NewDense(size, d, nil), mat.NewDense(k, d, nil), mat.NewDense(k, d, nil)
	biasVelocity, order := make([]float64, k), []int(nil)
	for step := range probeSteps {
		if len(order) < size {
			order = random.Perm(set.Len())
		}
		chosen := order[:size]
		order = order[size:]
		for i, row := range chosen {
			batch.SetRow(i, rows.RawRowView(row))
		}
		residuals := p.logits(batch)
		floats.Scale(probeMomentum, biasVelocity)
		for i, row := range chosen {
			residual := residuals.RawRowView(i)
			total := floats.LogSumExp(residual)
			for class, logit := range residual {
				residual[class] = math.Exp(logit-total) / float64(size)
			}
			residual[labels[row]] -= 1 / float64(size)
			floats.Add(biasVelocity, residual)
		}
		gradient.Mul(residuals.T(), batch)
		v, w := velocity.RawMatrix().Data, p.weights.RawMatrix().Data
		floats.Scale(probeMomentum, v)
		floats.Add(v, gradient.RawMatrix().Data)
		floats.AddScaled(v, probeDecay, w)
		rate := math.Ldexp(probeRate, -step*(probeHalvings+1)/probeSteps)
		floats.AddScaled(w, -rate, v)
		floats.AddScaled(p.biases, -rate, biasVelocity)
	}
	return p
}

// logits of rows (n×d), n×k.
func (p probe) logits(rows *mat.Dense) *mat.Dense {
	var logits mat.Dense
	logits.Mul(rows, p.weights.T())
	for i := range logits.RawMatrix().Rows {
		floats.Add(logits.RawRowView(i), p.biases)
	}
	return &logits
}
