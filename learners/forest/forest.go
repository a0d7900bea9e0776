// Package forest grows random forests (Breiman 2001): the mean of trees, each of which splits a
// sample of labelled rows, column by column, until a leaf has rows of one class. Settings are
// scikit-learn's defaults: 100 trees, each of as many rows as there are, drawn with replacement; at
// each node the best of √d columns by Gini's impurity; thresholds halfway between two values. The
// probabilities of n trees are (Σ shares + 1/k)/(n+1), as if one more tree knew nothing: none is 0.
package forest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"iwda/internal/evenly"
)

// Rows are n labelled rows of d values.
type Rows struct {
	Values  []float32 // n×d, row after row, finite
	Labels  []int     // n classes, from 0
	Classes int       // k
	// Groups are the numbers of the groups of rows that belong together; nil if each row is a
	// group of its own. A tree draws groups with replacement, and then rows of these.
	Groups []int
}

// Forest is trees as arrays of float32, which have whole numbers up to 2²⁴, as tensors of networks.
type Forest struct {
	Trees   int // nodes 0 to Trees-1 are their roots
	Classes int // k
	// Nodes are n×Fields: of each a column, a threshold, and the nodes at which rows go on whose value is
	// at most the threshold, and the others. These come later. A leaf has itself for both, and in the
	// place of the threshold its row of Shares.
	Nodes []float32
	// Shares are class shares of leaves, m×k, each row once.
	Shares []float32
}

// Grown is a forest with what it says of rows by trees that have not seen them.
type Grown struct {
	Forest
	// OutOfBag are the logits of some of the rows, OutOfBagRows, each by the trees that did not
	// draw it: as good as those of rows that were held out.
	OutOfBag     []float32 // len(OutOfBagRows)×k
	OutOfBagRows []int     // numbers of rows
	// OutOfBagTrees is the mean number of trees that speak of such a row: fewer trees are less sure.
	OutOfBagTrees int
}

// The bounds keep all nodes below 14 MB and all shares below 34 MB.
const (
	allTrees   = 100
	mostDrawn  = 4096    // rows, by each tree: it has fewer than twice as many nodes
	mostDepth  = 256     // below a root
	mostShares = 1 << 22 // of leaves with rows of several classes; further ones are of their most frequent class
	// mostClasses is the largest k: leaves of one class have k shares each.
	mostClasses = 2048
	// mostJudged bounds the rows out of bag, mostLogits all their logits.
	mostJudged = 10_000
	mostLogits = 8e6
)

// The names of a forest's tensors in a network's state, m being the number of leaves that differ.
const (
	NodesTensor  = "forest.nodes"  // n×Fields
	SharesTensor = "forest.shares" // m×k
)

// Fields is the number of those of a node.
const Fields = 4

const (
	column = iota
	threshold
	left
	right
)

// Fit grows a forest. It is the same for the same random numbers. An error is that of the context,
// or of too many classes.
func Fit(ctx context.Context, rows Rows, random *rand.PCG) (Grown, error) {
	n, k := len(rows.Labels), rows.Classes
	if k > mostClasses {
		return Grown{}, fmt.Errorf("forest: %d classes, more than the %d that a forest is grown for: choose another method", k, mostClasses)
	}
	g := newGrower(rows, rand.New(random))
	asked := evenly.Rows(n, min(mostJudged, max(1, int(mostLogits)/k)))
	sums, seen := make([]float64, len(asked)*k), make([]int, len(asked))
	all := 0
	for tree := range allTrees {
		if err := ctx.Err(); err != nil {
			return Grown{}, err
		}
		g.draw()
		g.grow(tree)
		for i, row := range asked {
			if !g.saw(row) {
				g.forest.add(sums[i*k:(i+1)*k], rows.Values[row*g.d:(row+1)*g.d], tree)
				seen[i]++
				all++
			}
		}
	}
	result := Grown{Forest: g.forest, OutOfBagTrees: max(1, (all+len(asked)/2)/len(asked))}
	for i, row := range asked {
		if seen[i] > 0 {
			result.OutOfBag = appendLogits(result.OutOfBag, sums[i*k:(i+1)*k], seen[i])
			result.OutOfBagRows = append(result.OutOfBagRows, row)
		}
	}
	return result, nil
}

// Logits returns those of rows (n×d), n×k, by that many of the trees: row i by those from tree i
// on, and all by the same ones if that is all of them.
func (f Forest) Logits(values []float32, d, trees int) []float32 {
	n, sums := len(values)/d, make([]float64, f.Classes)
	logits := make([]float32, 0, n*f.Classes)
	for i := range n {
		first := 0
		if trees < f.Trees {
			first = i
		}
		clear(sums)
		for tree := range trees {
			f.add(sums, values[i*d:(i+1)*d], (first+tree)%f.Trees)
		}
		logits = appendLogits(logits, sums, trees)
	}
	return logits
}

// add adds what a tree says of a row (d) to sums of shares (k).
func (f Forest) add(sums []float64, row []float32, tree int) {
	for at := tree; ; {
		node := f.Nodes[at*Fields : (at+1)*Fields]
		next := node[right]
		if row[int(node[column])] <= node[threshold] {
			next = node[left]
		}
		if int(next) == at {
			shares := f.Shares[int(node[threshold])*len(sums):]
			for y := range sums {
				sums[y] += float64(shares[y])
			}
			return
		}
		at = int(next)
	}
}

// appendLogits appends those of a row of which trees have said sums of shares (k).
func appendLogits(to []float32, sums []float64, trees int) []float32 {
	for _, sum := range sums {
		to = append(to, float32(math.Log((sum+1/float64(len(sums)))/float64(trees+1))))
	}
	return to
}

// Check returns how far below a root the deepest leaf is, at most. The error names the node or share
// that no forest of rows of d values has: rows can be followed to leaves in what has none.
func (f Forest) Check(d int) (depth int, err error) {
	nodes, leaves := len(f.Nodes)/Fields, len(f.Shares)/f.Classes
	if f.Trees < 1 || f.Trees > nodes {
		return 0, fmt.Errorf("%d trees of %d nodes", f.Trees, nodes)
	}
	depths := make([]int, nodes)
	for i := range nodes {
		node := f.Nodes[i*Fields : (i+1)*Fields]
		leaf := node[left] == float32(i) && node[right] == float32(i)
		switch value := node[threshold]; {
		case !isIndex(node[column], d):
			return 0, fmt.Errorf("node %d asks for column %v of %d", i, node[column], d)
		case leaf && !isIndex(value, leaves):
			return 0, fmt.Errorf("node %d is a leaf with the shares %v of %d", i, value, leaves)
		case leaf:
			continue
		case math.IsNaN(float64(value)) || math.IsInf(float64(value), 0):
			return 0, fmt.Errorf("node %d has the threshold %v", i, value)
		}
		for _, child := range node[left:] {
			if !isIndex(child, nodes) || int(child) <= i {
				return 0, fmt.Errorf("node %d goes on at %v, want %d to %d", i, child, i+1, nodes-1)
			}
			depths[int(child)] = max(depths[int(child)], depths[i]+1)
			if depth = max(depth, depths[int(child)]); depth > mostDepth {
				return 0, fmt.Errorf("node %v is more than %d nodes below a root", child, mostDepth)
			}
		}
	}
	for i, share := range f.Shares {
		if !(share >= 0 && share <= 1) {
			return 0, fmt.Errorf("share %d of leaf %d is %v, want 0 to 1", i%f.Classes, i/f.Classes, share)
		}
	}
	return depth, nil
}

func isIndex(v float32, n int) bool { return v >= 0 && v < float32(n) && v == float32(int(v)) }
