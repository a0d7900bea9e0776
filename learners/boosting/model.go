package boosting

import (
	"fmt"
	"math"

	"iwda/internal/parallel"
	"iwda/learners"
	"iwda/learners/internal/trees"
)

// Model is trees as an array of float32, which have whole numbers up to 2²⁴, as tensors of networks.
type Model struct {
	Trees   int // nodes 0 to Trees-1 are their roots; tree i is of class i mod k, or all are of class 1 of two
	Classes int // k
	// Nodes are n×Fields: of each a column, a threshold, and the nodes at which rows go on whose value is
	// at most the threshold, the others, and those whose value is missing. These come later. A leaf has
	// itself for all three, and in the place of the threshold what it adds to its class's logit.
	Nodes []float32
}

// NodesTensor is the name of a model's tensor in a network's state, n×Fields.
const NodesTensor = "boosting.nodes"

// Fields is the number of those of a node.
const Fields = 5

const (
	column = iota
	threshold
	left
	right
	missing
)

// mostDepth is how far below a root a leaf is, at most.
const mostDepth = 1024

// exported returns the nodes of a tree, the root first, whose numbers are places in it. A set of levels is a chain of
// nodes, each of which asks for one.
func exported(data *table, nodes []node) (out []float32) {
	starts, size := make([]int, len(nodes)), 0 // where the nodes come to stand
	for i, n := range nodes {
		starts[i] = size
		size += max(1, len(n.listed(data)))
	}
	for i, n := range nodes {
		at := float32(starts[i])
		if n.below == nil {
			out = append(out, 0, float32(n.value), at, at, at)
			continue
		}
		f, low, high := data.features[n.feature], float32(starts[n.left]), float32(starts[n.right])
		if !f.word {
			border := float32(math.MaxFloat32) // of all values that there are
			if n.last < len(f.borders) {
				border = f.borders[n.last]
			}
			absent := high
			if n.missingLeft {
				absent = low
			}
			out = append(out, float32(f.columns[0]), border, low, high, absent)
			continue
		}
		if n.below[0] { // the rest goes left, so the levels that are listed go right
			low, high = high, low
		}
		for j, level := range n.listed(data) {
			otherwise := at + float32(j) + 1
			if j == len(n.listed(data))-1 {
				otherwise = high
			}
			out = append(out, float32(f.columns[level]), f.borders[level], otherwise, low, otherwise)
		}
	}
	return out
}

// listed are the levels of a word that do not go where the rest goes.
func (n *node) listed(data *table) (levels []int) {
	if n.below == nil || !data.features[n.feature].word {
		return nil
	}
	for bin := 1; bin < data.features[n.feature].cells(); bin++ {
		if n.below[bin] != n.below[0] {
			levels = append(levels, bin-1)
		}
	}
	return levels
}

// newModel puts trees together. The first of each class adds the class's start.
func newModel(grown [][]float32, start []float64) Model {
	if len(grown) == 0 {
		for range start {
			grown = append(grown, make([]float32, Fields)) // a leaf
		}
	}
	m := Model{Trees: len(grown), Classes: max(2, len(start)), Nodes: make([]float32, len(grown)*Fields)}
	for t, nodes := range grown {
		rest := float32(len(m.Nodes)/Fields - 1) // is added to places but 0
		for at := 0; at < len(nodes); at += Fields {
			n := [Fields]float32(nodes[at:])
			isLeaf := n[left] == float32(at/Fields) && n[right] == n[left]
			for i := left; i < Fields; i++ {
				if n[i] == 0 {
					n[i] = float32(t)
				} else {
					n[i] += rest
				}
			}
			if isLeaf && t < len(start) {
				n[threshold] = float32(float64(n[threshold]) + start[t])
			}
			if at == 0 {
				copy(m.Nodes[t*Fields:], n[:])
			} else {
				m.Nodes = append(m.Nodes, n[:]...)
			}
		}
	}
	return m
}

// step is a node for those who walk.
type step struct {
	threshold                    float32
	column, left, right, missing int32
}

// Logits returns those of rows (n×d), n×k: of two classes, 0 and that of class 1. The threads change no
// result.
func (m Model) Logits(values []float32, d, threads int) []float64 {
	const block = 256 // rows that pass one tree after another
	n := len(values) / d
	steps := make([]step, len(m.Nodes)/Fields)
	for i := range steps {
		of := m.Nodes[i*Fields:]
		steps[i] = step{of[threshold], int32(of[column]), int32(of[left]), int32(of[right]), int32(of[missing])}
	}
	logits := make([]float64, n*m.Classes)
	parallel.Each(threads, (n+block-1)/block, func(_, i int) {
		from, to := i*block, min(n, (i+1)*block)
		for tree := range m.Trees {
			class := m.ClassOf(tree)
			for row := from; row < to; row++ {
				logits[row*m.Classes+class] += float64(leafOf(steps, tree, values[row*d:(row+1)*d]))
			}
		}
	})
	return logits
}

// ClassOf returns the class to whose logit a tree adds.
func (m Model) ClassOf(tree int) int {
	if m.Classes == 2 {
		return 1
	}
	return tree % m.Classes
}

// leafOf is what a tree says of a row.
func leafOf(steps []step, tree int, row []float32) float32 {
	at := int32(tree)
	for {
		n := &steps[at]
		v, next := row[n.column], n.right
		if v <= n.threshold {
			next = n.left
		}
		if v != v {
			next = n.missing
		}
		if next == at {
			return n.threshold
		}
		at = next
	}
}

// Check returns how far below a root the deepest leaf is, at most. The error names the node that no
// model of rows of d values has: rows can be followed to leaves in what has none.
func (m Model) Check(d int) (depth int, err error) {
	nodes := len(m.Nodes) / Fields
	if m.Trees < 1 || m.Trees > nodes || m.Trees%treesOf(m.Classes) != 0 {
		return 0, fmt.Errorf("%d trees of %d nodes and %d classes", m.Trees, nodes, m.Classes)
	}
	return trees.Check(m.Nodes, Fields, d, mostDepth, func(float32) string { return "" })
}

// Tensors returns the nodes.
func (m Model) Tensors() []learners.Tensor {
	return []learners.Tensor{{Name: NodesTensor, Values: m.Nodes, Width: Fields}}
}
