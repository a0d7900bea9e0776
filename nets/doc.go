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
