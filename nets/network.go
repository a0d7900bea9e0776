// Package nets holds the networks of the paper's experiments: LeNet for digits,
// ResNet with the heads of both protocols for images, an MLP for features that were
// extracted before, and the domain discriminator with its gradient reversal.
//
// A network maps a batch x to features z = g(x), shape (rows × features), and logits
// h(z), shape (rows × classes). Forward passes take the mode as an argument, so that
// a network has no hidden state but its parameters and running statistics; their
// layers are gotorch's modules, their operations package torch's.
//
// # Images
//
// [NewResNet] makes a backbone, [ResNet.LoadWeights] gives it torchvision's weights;
// [NewTorchScript] takes any backbone that PyTorch wrote as a TorchScript module.
// [NewFineTuned] and [NewFrozen] put a head on it: the first trains everything, the
// second the head alone, for which [Frozen.Pooled] can be computed once a view and
// [Frozen.OnPooled] trained on the result. Both are [Grouped]: their backbone and head
// may have learning rates of their own.
//
// # State
//
// Parameters and buffers carry the names of the released code's state dictionaries,
// a ResNet's those of torchvision, and always come in the same order. [State.Load] is
// strict: every name and shape must fit. [statedict.Read] reads the files of
// safetensors and of PyTorch, and executes nothing of them.
package nets

import (
	"fmt"
	"os"
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
	// RowShape is that of the rows that a LeNet, an MLP or a TorchScript takes.
	RowShape []int
	// HiddenLayers is the number of an MLP's hidden layers, at least 1, and HiddenSize
	// the size of each; the last is z.
	HiddenLayers, HiddenSize int
	// Weights is the file with a ResNet's weights, as [ResNet.LoadWeights] reads it,
	// empty for weights drawn from libtorch's generator, or the file of a TorchScript.
	Weights string
	// Permit is asked before a TorchScript runs: see [NewTorchScript].
	Permit func(file *os.File, sum string) error
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
	case architecture.TorchScript:
		return torchScript(s)
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
	return withHead(backbone, s), weightsSHA256, nil
}

func torchScript(s Settings) (network Network, weightsSHA256 string, err error) {
	backbone, weightsSHA256, err := NewTorchScript(s.Weights, s.RowShape, !s.Frozen, s.Permit)
	if err != nil {
		return nil, "", err
	}
	return withHead(backbone, s), weightsSHA256, nil
}

func withHead(backbone Backbone, s Settings) Network {
	if s.Frozen {
		return NewFrozen(backbone, s.Classes)
	}
	return NewFineTuned(backbone, s.Classes)
}
