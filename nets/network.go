package nets

import (
	"fmt"
	"slices"

	"iwda/nets/architecture"
	"iwda/torch"
)

// Network is what the adaptation methods train: features and, on top of them, a
// classifier.
type Network interface {
	// Forward maps a batch to features z, shape (rows × FeatureSize), and logits,
	// shape (rows × classes). Training switches dropout on and normalisation to the
	// statistics of the batch.
	Forward(x torch.Tensor, training bool) (features, logits torch.Tensor)
	FeatureSize() int
	State() State
}

// Settings are what networks are made from beside their architecture; each reads its
// own.
type Settings struct {
	Classes int
	// RowShape is that of the rows that a LeNet or an MLP takes.
	RowShape []int
	// HiddenLayers is the number of an MLP's hidden layers, at least 1, and HiddenSize
	// the size of each; the last is z.
	HiddenLayers, HiddenSize int
	// Weights is the file with a ResNet's weights, as [ResNet.LoadWeights] reads it,
	// empty for weights drawn from libtorch's generator.
	Weights string
	// Frozen makes a [Frozen] of a backbone, which else becomes [FineTuned].
	Frozen bool
}

// New makes the network of an architecture. It returns the SHA-256 of the file of its
// weights, empty where there is none; the error is that of this file. New panics where the name is
// none of a network that is trained in steps, or the settings are none of which a network can be made.
func New(name architecture.Name, s Settings) (network Network, weightsSHA256 string, err error) {
	switch name {
	case architecture.LeNet:
		return NewLeNet(s.RowShape[0], s.Classes), "", nil
	case architecture.Linear:
		return NewLinear(s.RowShape[0], s.Classes), "", nil
	case architecture.MLP:
		const dropout = 0.5
		hidden := slices.Repeat([]int{s.HiddenSize}, s.HiddenLayers-1)
		return NewMLP(s.RowShape[0], hidden, s.HiddenSize, s.Classes, dropout), "", nil
	case architecture.ResNet18:
		return resNet(18, s)
	case architecture.ResNet34:
		return resNet(34, s)
	case architecture.ResNet50:
		return resNet(50, s)
	case architecture.ResNet101:
		return resNet(101, s)
	case architecture.ResNet152:
		return resNet(152, s)
	}
	panic(fmt.Sprintf("nets: no network %q", name))
}

func resNet(layers int, s Settings) (network Network, weightsSHA256 string, err error) {
	backbone, err := NewResNet(layers)
	if err == nil && s.Weights != "" {
		weightsSHA256, err = backbone.LoadWeights(s.Weights)
	}
	if err != nil {
		return nil, "", err
	}
	if s.Frozen {
		return NewFrozen(backbone, s.Classes), weightsSHA256, nil
	}
	return NewFineTuned(backbone, s.Classes), weightsSHA256, nil
}
