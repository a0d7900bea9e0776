package nets

import (
	"slices"

	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/nets/architecture"
	"iwda/torch"
)

// Trees is a random forest or boosted trees on row vectors, which are its features. It has no
// parameters that a step could change.
type Trees struct {
	name                   architecture.Name
	trees, inputs, classes int
	tensors                []torch.Tensor
	read                   Grown // the tensors as Forward has read them; nil if they may have changed since
}

// Grown is trees as numbers: a [forest.Forest] or a [boosting.Model].
type Grown interface {
	learners.Model
	// Check returns an error that names the node or share that no trees of rows of d values have.
	Check(d int) (depth int, err error)
}

// tensorsOf are the names of the tensors of trees: the nodes, and shares of leaves.
var tensorsOf = map[architecture.Name][]string{
	architecture.Forest: {forest.NodesTensor, forest.SharesTensor}, architecture.Boosting: {boosting.NodesTensor},
}

// NewTrees returns trees of the sizes in the settings, for the numbers of some that have grown. Without
// sizes it is leaves by which all classes are as probable.
func NewTrees(name architecture.Name, s Settings) *Trees {
	n := &Trees{name: name, inputs: s.RowShape[0], classes: s.Classes}
	switch {
	case name == architecture.Boosting && s.Trees == 0:
		n.Set(boosting.Untrained(s.Classes))
	case name == architecture.Boosting:
		n.Set(boosting.Model{Trees: s.Trees, Classes: s.Classes, Nodes: make([]float32, s.Nodes*boosting.Fields)})
	case s.Trees == 0:
		n.Set(forest.Forest{Trees: 1, Classes: s.Classes, Nodes: make([]float32, forest.Fields), Shares: slices.Repeat([]float32{1 / float32(s.Classes)}, s.Classes)})
	default:
		n.Set(forest.Forest{Trees: s.Trees, Classes: s.Classes, Nodes: make([]float32, s.Nodes*forest.Fields), Shares: make([]float32, s.Leaves*s.Classes)})
	}
	return n
}

// Set makes the network these trees, on the CPU.
func (n *Trees) Set(of Grown) {
	n.read, n.tensors = nil, nil
	switch of := of.(type) {
	case forest.Forest:
		n.trees = of.Trees
	case boosting.Model:
		n.trees = of.Trees
	}
	tensors := TensorsOf(of)
	for _, name := range tensorsOf[n.name] {
		n.tensors = append(n.tensors, torch.Keep(tensors[name]))
	}
}

// Sizes returns the numbers of trees, of their nodes, and of the leaves of a forest that differ.
func (n *Trees) Sizes() (trees, nodes, leaves int) {
	if n.name == architecture.Forest {
		leaves = n.tensors[1].Shape()[0]
	}
	return n.trees, n.tensors[0].Shape()[0], leaves
}

// Forward returns the rows (rows × inputs) and their logits (rows × classes), which the CPU computes.
func (n *Trees) Forward(x torch.Tensor, _ bool) (features, logits torch.Tensor) {
	if n.read == nil {
		n.read = grownOf(n.name, n.trees, n.classes, n.tensors)
	}
	rows := onCPU(x)
	of := torch.FromSlice(n.read.Logits(rows, n.inputs, 1), len(rows)/n.inputs, n.classes)
	return x, of.To(torch.Float32, x.Device())
}

func onCPU(t torch.Tensor) []float32 { return torch.ToSlice[float32](t.To(torch.Float32, torch.CPU)) }

func grownOf(name architecture.Name, trees, classes int, tensors []torch.Tensor) Grown {
	if name == architecture.Boosting {
		return boosting.Model{Trees: trees, Classes: classes, Nodes: onCPU(tensors[0])}
	}
	return forest.Forest{Trees: trees, Classes: classes, Nodes: onCPU(tensors[0]), Shares: onCPU(tensors[1])}
}

// FeatureSize returns the number of inputs.
func (n *Trees) FeatureSize() int { return n.inputs }

// State returns the nodes, and of a forest the shares of its leaves (leaves × classes). They may be
// changed until the next call of Forward.
func (n *Trees) State() (state State) {
	n.read = nil
	for i, tensor := range n.tensors {
		state = append(state, Entry{tensorsOf[n.name][i], tensor, false})
	}
	return state
}
