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
		x = l.linear(x).ReLU()
		if training && d.dropout > 0 {
			x = x.Dropout(d.dropout)
		}
	}
	return d.layers[2].linear(x).Reshape(-1)
}

// State returns the parameters: layer1.weight to layer3.bias.
func (d *Discriminator) State() State {
	return slices.Concat(d.layers[0].state("layer1"), d.layers[1].state("layer2"), d.layers[2].state("layer3"))
}

// Reversal is the schedule of the coefficient of gradient reversal, which grows from
// 0 to High so that a discriminator that knows nothing yet does not disturb the
// features (Ganin et al. 2016).
type Reversal struct {
	High, Alpha float64
	Iterations  int
}

// Coefficient returns c(i) = 2·High/(1+exp(-Alpha·i/Iterations)) - High. i counts the
// discriminator's forward passes in training, 1 at the first.
func (r Reversal) Coefficient(i int) float64 {
	return 2*r.High/(1+math.Exp(-r.Alpha*float64(i)/float64(r.Iterations))) - r.High
}
