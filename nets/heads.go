package nets

import (
	"slices"

	"iwda/torch"
)

// bottleneckSize is the size of z in the image experiments.
const bottleneckSize = 256

// Grouped is a network whose two parts are trained differently: a backbone, such as
// one that was trained on other images before, and a head on top of it.
type Grouped interface {
	Network
	// Backbone returns the entries of State that begin with "backbone.".
	Backbone() State
	// Head returns all the others.
	Head() State
}

// Backbone is a network without a classifier: a [ResNet] or a [TorchScript].
type Backbone interface {
	// Forward maps a batch to features, shape (rows × FeatureSize). Training is as in
	// [Network].
	Forward(x torch.Tensor, training bool) torch.Tensor
	FeatureSize() int
	State() State
}

// headed is a backbone with a head on top of it.
type headed struct {
	backbone Backbone
	head     *MLP
}

// FeatureSize returns 256.
func (n *headed) FeatureSize() int { return n.head.FeatureSize() }

// Head returns bottleneck.weight to classifier.bias.
func (n *headed) Head() State { return n.head.State() }

// FineTuned is the image network of DANN, CDAN and their variants: a backbone, z as a
// linear map of its features, and a linear classifier of z. All of it is trained; the
// paper's experiments give the head ten times the backbone's learning rate.
type FineTuned struct{ headed }

// NewFineTuned puts a head on the backbone: z of size 256, weights Xavier normal,
// drawn from libtorch's generator, biases 0.
func NewFineTuned(backbone Backbone, classes int) *FineTuned {
	head := NewMLP(backbone.FeatureSize(), nil, bottleneckSize, classes, 0)
	head.linear = true
	return &FineTuned{headed{backbone, head}}
}

// Forward maps what the backbone takes, such as images, to features (rows × 256) and
// logits (rows × classes). Training normalises with the statistics of these rows.
func (n *FineTuned) Forward(images torch.Tensor, training bool) (features, logits torch.Tensor) {
	return n.head.Forward(n.backbone.Forward(images, training), training)
}

// Backbone returns the backbone's entries, a ResNet's from backbone.conv1.weight on.
func (n *FineTuned) Backbone() State { return n.backbone.State().Prefixed("backbone") }

// State returns the backbone's entries and the head's.
func (n *FineTuned) State() State { return slices.Concat(n.Backbone(), n.Head()) }

// Frozen is the image network of JAN and its variants: a backbone in evaluation mode
// that is never trained, z as a linear map of its features with ReLU and dropout, and
// a linear classifier of z.
type Frozen struct{ headed }

// NewFrozen puts a head on the backbone: z of size 256 from weights of deviation
// 0.005 and biases 0.1, dropout 0.5, a classifier from weights of deviation 0.01 and
// biases 0; the weights normal, drawn from libtorch's generator.
func NewFrozen(backbone Backbone, classes int) *Frozen {
	head := NewMLP(backbone.FeatureSize(), nil, bottleneckSize, classes, 0.5)
	head.bottleneck.initNormal(0.005, 0.1)
	head.classifier.initNormal(0.01, 0)
	return &Frozen{headed{backbone, head}}
}

// Forward maps what the backbone takes, such as images, to features (rows × 256) and
// logits (rows × classes): the head's Forward on [Frozen.Pooled].
func (n *Frozen) Forward(images torch.Tensor, training bool) (features, logits torch.Tensor) {
	return n.head.Forward(n.Pooled(images), training)
}

// Pooled maps images to the backbone's features (rows × its FeatureSize), constants
// that depend on nothing trained, so that each view of an image needs them only once.
func (n *Frozen) Pooled(images torch.Tensor) (pooled torch.Tensor) {
	torch.NoGrad(func() { pooled = n.backbone.Forward(images, false) })
	return pooled
}

// ShareBackbone makes n use other's backbone in the place of its own where the numbers of both
// are the same, and reports whether they are. Of TorchScript modules, whose numbers are not
// all that they are, both must be of the same file.
func (n *Frozen) ShareBackbone(other *Frozen) bool {
	same := slices.EqualFunc(n.Backbone(), other.Backbone(), func(a, b Entry) bool {
		return a.Name == b.Name && equal(a.Tensor, b.Tensor)
	})
	if same {
		n.backbone = other.backbone
	}
	return same
}

// equal reports whether two tensors have the same type, shape and numbers.
func equal(a, b torch.Tensor) bool {
	if a.DType() != b.DType() || !slices.Equal(a.Shape(), b.Shape()) {
		return false
	}
	if a.DType() == torch.Int64 {
		return slices.Equal(torch.ToSlice[int64](a), torch.ToSlice[int64](b))
	}
	// Numbers of every other type are numbers of float64, too.
	exact := func(t torch.Tensor) []float64 { return torch.ToSlice[float64](t.To(torch.Float64, torch.CPU)) }
	return slices.Equal(exact(a), exact(b))
}

// SharesBackbone reports whether both have one and the same backbone, so that what
// [Frozen.Pooled] returns of one serves the other.
func (n *Frozen) SharesBackbone(other *Frozen) bool { return n.backbone == other.backbone }

// OnPooled returns the head as a network of its own, which maps what [Frozen.Pooled]
// returns to features and logits. It shares the parameters.
func (n *Frozen) OnPooled() *MLP { return n.head }

// State returns the backbone's entries and the head's.
func (n *Frozen) State() State { return slices.Concat(n.Backbone(), n.Head()) }

// Backbone returns the backbone's entries, a ResNet's from backbone.conv1.weight on, none
// of them trained.
func (n *Frozen) Backbone() State {
	state := n.backbone.State().Prefixed("backbone")
	for i := range state {
		state[i].Trained = false
	}
	return state
}
