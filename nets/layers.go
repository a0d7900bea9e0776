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

// Entry is one tensor of a network's state, by its name in a state dictionary.
type Entry struct {
	Name   string // conv_params.0.weight
	Tensor torch.Tensor
	// Trained tells parameters from buffers, such as a running mean.
	Trained bool
}

// State is the whole of a network's numbers, in a fixed order.
type State []Entry

// Parameters returns the tensors that are trained, in order.
func (s State) Parameters() []torch.Tensor {
	var parameters []torch.Tensor
	for _, e := range s {
		if e.Trained {
			parameters = append(parameters, e.Tensor)
		}
	}
	return parameters
}

// ParameterNames returns the names of the tensors that are trained, in order.
func (s State) ParameterNames() []string {
	var names []string
	for _, e := range s {
		if e.Trained {
			names = append(names, e.Name)
		}
	}
	return names
}

// Prefixed returns the same entries under names that begin with prefix and a dot.
func (s State) Prefixed(prefix string) State {
	named := slices.Clone(s)
	for i := range named {
		named[i].Name = prefix + "." + named[i].Name
	}
	return named
}

// Move changes every tensor to the element type, for those that hold real numbers,
// and device. It must come before an optimiser takes the parameters.
func (s State) Move(dtype torch.DType, device torch.Device) {
	for _, e := range s {
		to := e.Tensor.DType()
		if to == torch.Float32 || to == torch.Float64 || to == torch.BFloat16 {
			to = dtype
		}
		e.Tensor.Move(to, device)
	}
}

// MismatchError lists how a state dictionary differs from the network that was to
// take it. Nothing was loaded.
type MismatchError struct {
	Missing    []string // names that the network has and the dictionary lacks
	Unexpected []string // names that only the dictionary has
	Misshapen  []string // "name: shape found, shape wanted"
}

func (e *MismatchError) Error() string {
	var parts []string
	for _, p := range []struct {
		what  string
		names []string
	}{{"missing", e.Missing}, {"unexpected", e.Unexpected}, {"wrong shape", e.Misshapen}} {
		if len(p.names) > 0 {
			parts = append(parts, p.what+": "+strings.Join(p.names, ", "))
		}
	}
	return "state dictionary does not fit the network: " + strings.Join(parts, "; ")
}

// Load copies values into the state by name, cast and moved to where each tensor
// lies. The names and shapes must be the same, or it returns a [*MismatchError] and
// changes nothing.
func (s State) Load(values map[string]torch.Tensor) error {
	var mismatch MismatchError
	known := make(map[string]bool, len(s))
	for _, e := range s {
		known[e.Name] = true
		value, ok := values[e.Name]
		if !ok {
			mismatch.Missing = append(mismatch.Missing, e.Name)
			continue
		}
		if found, wanted := value.Shape(), e.Tensor.Shape(); !slices.Equal(found, wanted) {
			mismatch.Misshapen = append(mismatch.Misshapen, fmt.Sprintf("%s: %v, not %v", e.Name, found, wanted))
		}
	}
	for name := range values {
		if !known[name] {
			mismatch.Unexpected = append(mismatch.Unexpected, name)
		}
	}
	slices.Sort(mismatch.Unexpected)
	if len(mismatch.Missing)+len(mismatch.Unexpected)+len(mismatch.Misshapen) > 0 {
		return &mismatch
	}
	for _, e := range s {
		e.Tensor.Set(values[e.Name])
	}
	return nil
}
