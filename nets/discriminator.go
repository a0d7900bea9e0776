package nets

import (
	"math"
	"slices"

	"iwda/torch"
)

// Discriminator tells source from target rows: d in the paper's losses. It returns
// logits, of which the sigmoid is the probability of "source", so that losses can
// take logarithms without overflow.
type Discriminator struct {
	layers  [3]layer
	dropout float64
}

// NewDiscriminator returns a discriminator of inputs of that size with two hidden
// layers of hidden units and dropout after each; weights Xavier normal, biases 0.
func NewDiscriminator(inputs, hidden int, dropout float64) *Discriminator {
	d := &Discriminator{
		layers:  [3]layer{newLinear(inputs, hidden), newLinear(hidden, hidden), newLinear(hidden, 1)},
		dropout: dropout,
	}
	for _, l := range d.layers {
		l.initXavierNormal()
	}
	return d
}

// Forward maps inputs, shape (rows × inputs), to logits, shape (rows).
func (d *Discriminator) Forward(x torch.Tensor, training bool) torch.Tensor {
	for _, l := range d.layers[:2] {
		x = activate(l.linear(x), d.dropout, training)
	}
	return d.layers[2].linear(x).Reshape(-1)
}

// UnitScale returns the rows of x, shape (rows × columns), each divided by the root of
// its mean square: the direction is left, at the scale that the layers after it are
// initialised for. A row of zeros stays one.
func UnitScale(x torch.Tensor) torch.Tensor {
	return x.Mul(inverseRoot(x.Square().SumDim(1, true).Affine(1/float64(x.Shape()[1]), leastSquare)))
}

// CommonScale returns x divided by one number, the root of the mean square of all its elements:
// unlike after [UnitScale], rows keep their size beside each other.
func CommonScale(x torch.Tensor) torch.Tensor {
	return x.Mul(inverseRoot(x.Square().Mean().Affine(1, leastSquare)))
}

// leastSquare is added to mean squares that divide; it bounds the derivative at 0.
const leastSquare = 1e-6

// inverseRoot returns 1/√x of every element of x, which are above 0.
func inverseRoot(x torch.Tensor) torch.Tensor { return x.Log().Scale(-0.5).Exp() }

// State returns the parameters, layer1.weight to layer3.bias.
func (d *Discriminator) State() State {
	return slices.Concat(d.layers[0].state("layer1"), d.layers[1].state("layer2"), d.layers[2].state("layer3"))
}

// Reversal is the schedule of the coefficient of gradient reversal, which grows from
// 0 to 1 so that a discriminator that knows nothing yet does not disturb the
// features (Ganin et al. 2016).
type Reversal struct{ Iterations int }

// Coefficient returns c(i) = 2/(1+exp(-10·i/Iterations)) - 1. i counts the discriminator's
// forward passes in training, 1 at the first.
func (r Reversal) Coefficient(i int) float64 {
	return 2/(1+math.Exp(-10*float64(i)/float64(r.Iterations))) - 1
}

// RandomProjection replaces the outer product p ⊗ z of CDAN, of size k·d, by
// (z R_z)∘(p R_p)/√m of size m, whose inner products have the same expectation (Long et
// al. 2018). R_z and R_p are drawn once from N(0, 1) and never trained.
type RandomProjection struct {
	Features, Predictions torch.Tensor // R_z (d × m), R_p (k × m)
}

// Forward maps features (rows × d) and predictions (rows × k) to (rows × m).
func (r *RandomProjection) Forward(features, predictions torch.Tensor) torch.Tensor {
	m := r.Features.Shape()[1]
	return features.MatMul(r.Features).Mul(predictions.MatMul(r.Predictions)).Scale(1 / math.Sqrt(float64(m)))
}

// State returns both matrices.
func (r *RandomProjection) State() State {
	return State{{"feature_matrix", r.Features, false}, {"prediction_matrix", r.Predictions, false}}
}
