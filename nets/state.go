package nets

import (
	"fmt"
	"slices"
	"strings"

	"iwda/torch"
)

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
