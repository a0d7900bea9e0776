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

// LeNet is the digits network of the paper: two convolutions, each with a maximum over
// 2×2 pixels and ReLU, and a hidden layer, whose 500 units are the features.
type LeNet struct {
	conv1, conv2, hidden, classifier layer
}

// lenetFeatures is the size of LeNet's hidden layer, z.
const lenetFeatures = 500

// NewLeNet returns a LeNet for images of so many channels and 28×28 pixels with PyTorch's default
// initialisation, drawn from libtorch's generator.
func NewLeNet(channels, classes int) *LeNet {
	return &LeNet{
		conv1:      newConv2D(channels, 20, 5),
		conv2:      newConv2D(20, 50, 5),
		hidden:     newLinear(50*4*4, lenetFeatures),
		classifier: newLinear(lenetFeatures, classes),
	}
}

// Forward maps images, shape (rows × channels × 28 × 28), to features (rows × 500) and
// logits (rows × classes).
func (n *LeNet) Forward(images torch.Tensor, training bool) (features, logits torch.Tensor) {
	x := images.BlockBatch()
	x = x.ConvMaxPoolReLU(n.conv1.weight, n.conv1.bias)
	x = x.ConvMaxPoolReLU(n.conv2.weight, n.conv2.bias)
	x = x.UnblockBatch(images.Shape()[0])
	if training {
		// The released code drops channels before the maximum, which is the same: it
		// only scales them by 0 or 2.
		x = x.Dropout2D(0.5)
	}
	x = n.hidden.linear(x.Reshape(-1, 50*4*4)).ReLU()
	if training {
		x = x.Dropout(0.5)
	}
	return x, n.classifier.linear(x)
}

// FeatureSize returns 500.
func (n *LeNet) FeatureSize() int { return lenetFeatures }

// State returns the parameters under the released code's names.
func (n *LeNet) State() State {
	return slices.Concat(
		n.conv1.state("conv_params.0"),
		n.conv2.state("conv_params.3"),
		n.hidden.state("fc_params.0"),
		n.classifier.state("classifier"),
	)
}
