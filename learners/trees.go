package learners

import (
	"fmt"
	"math"
	"slices"
)

// The first fields of a tree's node. The nodes at which rows go on follow; those of a leaf are itself, and what
// it says stands in the place of the threshold.
const (
	Column    = iota
	Threshold // of the values that go to the left
	Left
	Right
)

// CheckNodes returns how far below a root the deepest leaf of trees is, at most. Nodes are n×fields, the first of
// them roots. The error names the node that no trees of rows of d values have, or that leaf finds wrong: rows can
// be followed to leaves in what has none.
func CheckNodes(nodes []float32, fields, trees, d, mostDepth int, leaf func(says float32) error) (depth int, err error) {
	n := len(nodes) / fields
	if trees < 1 || trees > n {
		return 0, fmt.Errorf("%d trees of %d nodes", trees, n)
	}
	depths := make([]int, n)
	for i := range n {
		node := nodes[i*fields : (i+1)*fields]
		children, threshold := node[Left:], node[Threshold]
		switch {
		case !IsIndex(node[Column], d):
			return 0, fmt.Errorf("node %d asks for column %v of %d", i, node[Column], d)
		case !slices.ContainsFunc(children, func(child float32) bool { return child != float32(i) }):
			if err := leaf(threshold); err != nil {
				return 0, fmt.Errorf("node %d %w", i, err)
			}
			continue
		case math.IsNaN(float64(threshold)) || math.IsInf(float64(threshold), 0):
			return 0, fmt.Errorf("node %d has the threshold %v", i, threshold)
		}
		for _, child := range children {
			if !IsIndex(child, n) || int(child) <= i {
				return 0, fmt.Errorf("node %d goes on at %v, want %d to %d", i, child, i+1, n-1)
			}
			depths[int(child)] = max(depths[int(child)], depths[i]+1)
			if depth = max(depth, depths[int(child)]); depth > mostDepth {
				return 0, fmt.Errorf("node %v is more than %d nodes below a root", child, mostDepth)
			}
		}
	}
	return depth, nil
}

// IsIndex reports whether a number is one from 0 to n-1.
func IsIndex(v float32, n int) bool { return v >= 0 && v < float32(n) && v == float32(int(v)) }

// Ordered returns bits that are in the order of the values; 0 and -0 have the same.
func Ordered(v float32) uint32 {
	bits := math.Float32bits(v + 0)
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// Halfway is between a and the larger b, and never b itself.
func Halfway(a, b float32) float32 {
	if middle := float32((float64(a) + float64(b)) / 2); middle < b {
		return middle
	}
	return a
}
