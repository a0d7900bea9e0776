// Package trees has what a forest and boosted trees have in common: thresholds between values, and nodes
// as rows of numbers, which a file may hold.
package trees

import (
	"fmt"
	"math"
)

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

// The fields of a node: the column that it asks for, a threshold, and from children on the nodes at
// which rows go on. A leaf has itself for all of these.
const (
	column = iota
	threshold
	children
)

// Check returns how far below a root the deepest leaf of nodes (n×fields) is, at most. The error names the
// node that no trees of rows of d values have: of others, rows can be followed to leaves. leaf says what is
// wrong with the threshold of a leaf, "" for nothing; it is finite.
func Check(nodes []float32, fields, d, mostDepth int, leaf func(threshold float32) string) (depth int, err error) {
	n := len(nodes) / fields
	depths := make([]int, n)
	for i := range n {
		node := nodes[i*fields : (i+1)*fields]
		isLeaf := true
		for _, child := range node[children:] {
			isLeaf = isLeaf && child == float32(i)
		}
		switch value := node[threshold]; {
		case !IsIndex(node[column], d):
			return 0, fmt.Errorf("node %d asks for column %v of %d", i, node[column], d)
		case math.IsNaN(float64(value)) || math.IsInf(float64(value), 0):
			return 0, fmt.Errorf("node %d has the threshold %v", i, value)
		case isLeaf && leaf(value) != "":
			return 0, fmt.Errorf("node %d is a leaf with %s", i, leaf(value))
		case isLeaf:
			continue
		}
		for _, child := range node[children:] {
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

// IsIndex tells whether a number is whole, and from 0 to n-1.
func IsIndex(v float32, n int) bool { return v >= 0 && v < float32(n) && v == float32(int(v)) }
