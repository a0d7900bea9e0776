package nets

import (
	"fmt"
	"slices"

	"iwda/nets/forest"
	"iwda/torch"
)

// Forest is a random forest on row vectors, which are its features. It has no parameters that a step
// could change.
type Forest struct {
	nodes, shares torch.Tensor // as in [forest.Forest]
	trees, inputs int
	read          *forest.Forest // the tensors as Forward has read them; nil if they may have changed since
}

// NewForest returns a forest of rows of inputs numbers, of trees with so many nodes in all and so many
// leaves that differ, for the numbers of one that has grown. Without trees it is one of a leaf, by
// which all classes are as probable.
func NewForest(inputs, classes, trees, nodes, leaves int) *Forest {
	n := &Forest{inputs: inputs}
	if trees == 0 {
		n.Set(forest.Forest{Trees: 1, Classes: classes, Nodes: make([]float32, forest.Fields), Shares: slices.Repeat([]float32{1 / float32(classes)}, classes)})
	} else {
		n.Set(forest.Forest{Trees: trees, Classes: classes, Nodes: make([]float32, nodes*forest.Fields), Shares: make([]float32, leaves*classes)})
	}
	return n
}

// Set makes the network that forest, on the CPU.
func (n *Forest) Set(f forest.Forest) {
	n.trees, n.read = f.Trees, nil
	n.nodes = torch.Keep(torch.FromSlice(f.Nodes, len(f.Nodes)/forest.Fields, forest.Fields))
	n.shares = torch.Keep(torch.FromSlice(f.Shares, len(f.Shares)/f.Classes, f.Classes))
}

// Sizes returns the numbers of trees, of their nodes, and of leaves that differ.
func (n *Forest) Sizes() (trees, nodes, leaves int) {
	return n.trees, n.nodes.Shape()[0], n.shares.Shape()[0]
}

// Forward returns the rows (rows × inputs) and their logits (rows × classes), which the CPU computes.
func (n *Forest) Forward(x torch.Tensor, _ bool) (features, logits torch.Tensor) {
	if n.read == nil {
		f := forestOf(n.trees, n.nodes, n.shares)
		n.read = &f
	}
	f := n.read
	of := f.Logits(onCPU(x), n.inputs, n.trees)
	return x, torch.FromSlice(of, len(of)/f.Classes, f.Classes).To(torch.Float32, x.Device())
}

func onCPU(t torch.Tensor) []float32 { return torch.ToSlice[float32](t.To(torch.Float32, torch.CPU)) }

func forestOf(trees int, nodes, shares torch.Tensor) forest.Forest {
	return forest.Forest{Trees: trees, Classes: shares.Shape()[1], Nodes: onCPU(nodes), Shares: onCPU(shares)}
}

// CheckForest returns an error for tensors (nodes × 4 and leaves × classes) of which no forest of rows
// of inputs numbers can be made; see [forest.Forest.Check].
func CheckForest(trees, inputs int, nodes, shares torch.Tensor) error {
	if _, err := forestOf(trees, nodes, shares).Check(inputs); err != nil {
		return fmt.Errorf("%s: %w", forest.NodesTensor, err)
	}
	return nil
}

// FeatureSize returns the number of inputs.
func (n *Forest) FeatureSize() int { return n.inputs }

// State returns forest.nodes (nodes × 4) and forest.shares (leaves × classes). They may be changed
// until the next call of Forward.
func (n *Forest) State() State {
	n.read = nil
	return State{{forest.NodesTensor, n.nodes, false}, {forest.SharesTensor, n.shares, false}}
}
