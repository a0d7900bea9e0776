package nets

import (
	"math"
	"slices"

	"github.com/wangkuiyi/gotorch/nn"
	"github.com/wangkuiyi/gotorch/nn/initializer"

	"iwda/torch"
)

// layer is a linear or convolutional layer's numbers, made and initialised by
// gotorch as PyTorch does: uniform in ±1/sqrt(inputs per output).
type layer struct {
	weight, bias torch.Tensor
}

func newLinear(in, out int) layer {
	m := nn.Linear(int64(in), int64(out), true)
	return layer{torch.Wrap(m.Weight), torch.Wrap(m.Bias)}
}

func newConv2D(in, out, kernel int) layer {
	m := nn.Conv2d(int64(in), int64(out), int64(kernel), 1, 0, 1, 1, true, "zeros")
	return layer{torch.Wrap(m.Weight), torch.Wrap(m.Bias)}
}

// initXavierNormal draws the weight from N(0, 2/(inputs+outputs)) and sets the bias
// to 0 (Glorot and Bengio 2010).
func (l layer) initXavierNormal() {
	shape := l.weight.Shape()
	weight, bias := l.weight.Gotorch(), l.bias.Gotorch()
	initializer.Normal(&weight, 0, math.Sqrt(2/float64(shape[0]+shape[1])))
	initializer.Zeros(&bias)
}

// initNormal draws the weight from N(0, deviation²) and sets every bias to one value.
func (l layer) initNormal(deviation, bias float64) {
	weight := l.weight.Gotorch()
	initializer.Normal(&weight, 0, deviation)
	torch.CopyFromSlice(l.bias, slices.Repeat([]float32{float32(bias)}, l.bias.Len()))
}

func (l layer) linear(x torch.Tensor) torch.Tensor { return x.Linear(l.weight, l.bias) }

// activate is ReLU and, in training, dropout, if there is any.
func activate(x torch.Tensor, dropout float64, training bool) torch.Tensor {
	if x = x.ReLU(); training && dropout > 0 {
		x = x.Dropout(dropout)
	}
	return x
}

func (l layer) state(name string) State {
	return State{{name + ".weight", l.weight, true}, {name + ".bias", l.bias, true}}
}
