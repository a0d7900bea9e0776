package nets

import (
	"fmt"
	"slices"

	"iwda/torch"
)

// MLP is a network on row vectors, such as features that another network extracted
// before: hidden layers and a bottleneck, each linear with ReLU and, in training,
// dropout, and a linear classifier. The bottleneck's units are z.
type MLP struct {
	hidden                 []layer
	bottleneck, classifier layer
	linear                 bool // the bottleneck is linear alone
	dropout                float64
	featureSize            int
}

// NewMLP returns a network of rows of inputs numbers, with hidden layers of those
// sizes, which may be none, before the bottleneck of featureSize units; weights
// Xavier normal, drawn from libtorch's generator, biases 0.
func NewMLP(inputs int, hidden []int, featureSize, classes int, dropout float64) *MLP {
	n := &MLP{dropout: dropout, featureSize: featureSize}
	for _, size := range hidden {
		n.hidden = append(n.hidden, newLinear(inputs, size))
		inputs = size
	}
	n.bottleneck, n.classifier = newLinear(inputs, featureSize), newLinear(featureSize, classes)
	for _, l := range slices.Concat(n.hidden, []layer{n.bottleneck, n.classifier}) {
		l.initXavierNormal()
	}
	return n
}

// Forward maps rows, shape (rows × inputs), to features (rows × FeatureSize) and
// logits (rows × classes).
func (n *MLP) Forward(x torch.Tensor, training bool) (features, logits torch.Tensor) {
	for _, l := range n.hidden {
		x = activate(l.linear(x), n.dropout, training)
	}
	if x = n.bottleneck.linear(x); !n.linear {
		x = activate(x, n.dropout, training)
	}
	return x, n.classifier.linear(x)
}

// FeatureSize returns the size of the bottleneck.
func (n *MLP) FeatureSize() int { return n.featureSize }

// State returns the parameters: hidden1.weight and so on, bottleneck.weight to
// classifier.bias.
func (n *MLP) State() State {
	var state State
	for i, l := range n.hidden {
		state = append(state, l.state(fmt.Sprintf("hidden%d", i+1))...)
	}
	return slices.Concat(state, n.bottleneck.state("bottleneck"), n.classifier.state("classifier"))
}
