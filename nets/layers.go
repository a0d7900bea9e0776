package nets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wangkuiyi/gotorch/nn"
	"github.com/wangkuiyi/gotorch/nn/initializer"

	"iwda/torch"
)

// layer is a linear or convolutional layer's numbers, made and initialised by
// gotorch as PyTorch does: uniform in ±1/sqrt(inputs per output).
type layer struct {
	weight, bias torch.Tensor
}

func newLinear(in, out int) (l layer) {
	made(fmt.Sprintf("a linear layer of %d × %d", in, out), func() {
		m := nn.Linear(int64(in), int64(out), true)
		l = layer{torch.Wrap(m.Weight), torch.Wrap(m.Bias)}
	})
	return l
}

func newConv2D(in, out, kernel int) (l layer) {
	made(fmt.Sprintf("a convolution of %d to %d channels", in, out), func() {
		m := nn.Conv2d(int64(in), int64(out), int64(kernel), 1, 0, 1, 1, true, "zeros")
		l = layer{torch.Wrap(m.Weight), torch.Wrap(m.Bias)}
	})
	return l
}

// made calls a constructor of gotorch's, which panics with libtorch's text, as where memory is short: it
// panics with a [*torch.Error] in its place, like all else here.
func made(what string, construct func()) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case string:
			text, _, _ := strings.Cut(r, "\n")
			panic(&torch.Error{Op: what, Msg: text})
		default:
			panic(r)
		}
	}()
	construct()
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
