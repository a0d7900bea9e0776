package perceptron

import (
	"fmt"

	"iwda/internal/convert"
	"iwda/internal/parallel"
	"iwda/learners"
)

// Model is a network with one hidden layer of rectified linear units.
type Model struct {
	Weight  []float32 // h×d
	Bias    []float32 // h
	Out     []float32 // k×h
	OutBias []float32 // k
}

// The names of a model's tensors in a network's state, which are those of an MLP of one layer.
const (
	WeightTensor  = "bottleneck.weight" // h×d
	BiasTensor    = "bottleneck.bias"   // h
	OutTensor     = "classifier.weight" // k×h
	OutBiasTensor = "classifier.bias"   // k
)

// merged returns the network whose logits are the mean of all networks'.
func merged(networks []network) (m Model) {
	for _, n := range networks {
		for unit := range n.h {
			weights := n.hidden[unit*(n.d+1) : (unit+1)*(n.d+1)]
			m.Weight = append(m.Weight, convert.Slice[float32](weights[:n.d])...)
			m.Bias = append(m.Bias, float32(weights[n.d]))
		}
	}
	for y := range networks[0].k {
		bias := 0.0
		for _, n := range networks {
			weights := n.out[y*(n.h+1) : (y+1)*(n.h+1)]
			for _, w := range weights[:n.h] {
				m.Out = append(m.Out, float32(w/float64(len(networks))))
			}
			bias += weights[n.h] / float64(len(networks))
		}
		m.OutBias = append(m.OutBias, float32(bias))
	}
	return m
}

// network is the model as what computes its logits.
func (m Model) network() network {
	n := network{h: len(m.Bias), k: len(m.OutBias)}
	n.d = len(m.Weight) / n.h
	join := func(weights, biases []float32, width int) (joined []float64) {
		for i, bias := range biases {
			joined = append(append(joined, convert.Slice[float64](weights[i*width:(i+1)*width])...), float64(bias))
		}
		return joined
	}
	n.hidden, n.out = join(m.Weight, m.Bias, n.d), join(m.Out, m.OutBias, n.h)
	return n
}

// Logits returns those of rows (n×d), n×k. The threads change no result.
func (m Model) Logits(values []float32, d, threads int) []float64 {
	const block = 1024 // rows
	n, rows := m.network(), len(values)/d
	logits := make([]float64, rows*n.k)
	parallel.Each(threads, (rows+block-1)/block, func(_, b int) {
		copy(logits[b*block*n.k:], n.logits(values[b*block*d:min(rows, (b+1)*block)*d], d))
	})
	return logits
}

// Tensors returns the weights and biases.
func (m Model) Tensors() []learners.Tensor {
	return []learners.Tensor{
		{Name: WeightTensor, Values: m.Weight, Width: len(m.Weight) / len(m.Bias)}, {Name: BiasTensor, Values: m.Bias},
		{Name: OutTensor, Values: m.Out, Width: len(m.Bias)}, {Name: OutBiasTensor, Values: m.OutBias},
	}
}

// Check returns an error that names the tensor that no model of rows of d values has.
func (m Model) Check(d int) error {
	h, k := len(m.Bias), len(m.OutBias)
	if h == 0 || k == 0 {
		return fmt.Errorf("%d hidden units and %d classes", h, k)
	}
	for _, t := range m.Tensors() {
		if want := map[string]int{WeightTensor: h * d, OutTensor: k * h, BiasTensor: h, OutBiasTensor: k}[t.Name]; len(t.Values) != want {
			return fmt.Errorf("%s: %d numbers, want %d", t.Name, len(t.Values), want)
		}
		for i, v := range t.Values {
			if v-v != 0 {
				return fmt.Errorf("%s: number %d is %v, not finite", t.Name, i, v)
			}
		}
	}
	return nil
}
