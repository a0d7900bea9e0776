package nets

import "iwda/torch"

// Linear is a linear classifier of row vectors, which are its features.
type Linear struct {
	classifier layer
	inputs     int
}

// NewLinear returns a classifier of rows of inputs numbers; weights Xavier normal, drawn from
// libtorch's generator, biases 0.
func NewLinear(inputs, classes int) *Linear {
	n := &Linear{newLinear(inputs, classes), inputs}
	n.classifier.initXavierNormal()
	return n
}

// Forward returns the rows (rows × inputs) and their logits (rows × classes).
func (n *Linear) Forward(x torch.Tensor, _ bool) (features, logits torch.Tensor) {
	return x, n.classifier.linear(x)
}

// FeatureSize returns the number of inputs.
func (n *Linear) FeatureSize() int { return n.inputs }

// State returns classifier.weight (classes × inputs) and classifier.bias.
func (n *Linear) State() State { return n.classifier.state("classifier") }
