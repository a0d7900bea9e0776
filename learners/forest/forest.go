// Package forest grows random forests (Breiman 2001): the mean of trees, each of which splits a
// sample of labelled rows, column by column, until a leaf has rows of one class. Settings are
// scikit-learn's defaults: 100 trees, each of as many rows as there are, drawn with replacement; at
// each node the best of √d columns by Gini's impurity; thresholds halfway between two values. The
// probabilities of n trees are (Σ shares + 1/k)/(n+1), as if one more tree knew nothing: none is 0.
package forest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"iwda/internal/evenly"
	"iwda/internal/parallel"
	"iwda/learners"
	"iwda/learners/internal/trees"
)

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

// The bounds keep all nodes below 14 MB and all shares below 34 MB.
const (
	allTrees   = 100
	mostDrawn  = 4096    // rows, by each tree: it has fewer than twice as many nodes
	mostDepth  = 256     // below a root
	mostShares = 1 << 22 // of leaves with rows of several classes; further ones are of their most frequent class
	mostLogits = 8e6     // of rows out of bag
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

// Fit is a [learners.Learner], whose model is a [Forest]. Crossed is out of bag: each row is judged by the
// trees that did not draw it or another one of its group, and the other rows, by one classifier, by the trees that
// judge a row of the source, one after another: what no tree says of a row depends on how many were asked. One thread
// grows the trees. An error is that of the context, of values that are not finite, or of too many classes.
func Fit(ctx context.Context, rows learners.Rows, others []float32, threads int, random *rand.PCG) (learners.Fitted, error) {
	n, k, d := len(rows.Labels), rows.Classes, rows.Columns()
	if err := cmp.Or(learners.CheckClasses(k), rows.Check(false)); err != nil {
		return learners.Fitted{}, fmt.Errorf("forest: %w", err)
	}
	g := newGrower(rows, rand.New(random))
	asked := evenly.Rows(n, min(learners.MostCrossed, max(1, int(mostLogits)/k)))
	judges := make([][]int, n) // trees that have not drawn a row
	for tree := range allTrees {
		if err := ctx.Err(); err != nil {
			return learners.Fitted{}, err
		}
		g.draw()
		g.grow(tree)
		for _, row := range asked {
			if !g.saw(row) {
				judges[row] = append(judges[row], tree)
			}
		}
	}
	var c learners.Crossed
	var of [][]int
	var judged []float32
	for _, row := range asked {
		if judges[row] != nil {
			c.Rows, of, judged = append(c.Rows, row), append(of, judges[row]), append(judged, rows.Values[row*d:(row+1)*d]...)
		}
	}
	if of == nil { // all trees have drawn the only row
		of = [][]int{evenly.All(allTrees)}
	}
	c.Logits, c.Others = g.forest.logits(judged, d, of, threads), [][]float64{g.forest.logits(others, d, of, threads)}
	return learners.Fitted{Model: g.forest, Crossed: c}, nil
}

// Logits returns those of rows (n×d), n×k. The threads change no result.
func (f Forest) Logits(values []float32, d, threads int) []float64 {
	return f.logits(values, d, [][]int{evenly.All(f.Trees)}, threads)
}

// logits are by these trees: row i by those of place i mod their number.
func (f Forest) logits(values []float32, d int, trees [][]int, threads int) []float64 {
	const block = 256 // rows
	n := len(values) / d
	logits := make([]float64, n*f.Classes)
	parallel.Each(threads, (n+block-1)/block, func(_, b int) {
		sums := make([]float64, f.Classes)
		for i := b * block; i < min(n, (b+1)*block); i++ {
			of := trees[i%len(trees)]
			clear(sums)
			for _, tree := range of {
				f.add(sums, values[i*d:(i+1)*d], tree)
			}
			setLogits(logits[i*f.Classes:(i+1)*f.Classes], sums, len(of))
		}
	})
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

// setLogits sets those of a row (k) of which trees have said sums of shares (k).
func setLogits(logits, sums []float64, trees int) {
	for y, sum := range sums {
		logits[y] = math.Log((sum + 1/float64(len(sums))) / float64(trees+1))
	}
}

// Check returns how far below a root the deepest leaf is, at most. The error names the node or share
// that no forest of rows of d values has: rows can be followed to leaves in what has none.
func (f Forest) Check(d int) (depth int, err error) {
	nodes, leaves := len(f.Nodes)/Fields, len(f.Shares)/f.Classes
	if f.Trees < 1 || f.Trees > nodes {
		return 0, fmt.Errorf("%d trees of %d nodes", f.Trees, nodes)
	}
	depth, err = trees.Check(f.Nodes, Fields, d, mostDepth, func(threshold float32) string {
		if trees.IsIndex(threshold, leaves) {
			return ""
		}
		return fmt.Sprintf("the shares %v of %d", threshold, leaves)
	})
	if err != nil {
		return 0, err
	}
	for i, share := range f.Shares {
		if !(share >= 0 && share <= 1) {
			return 0, fmt.Errorf("share %d of leaf %d is %v, want 0 to 1", i%f.Classes, i/f.Classes, share)
		}
	}
	return depth, nil
}

// Tensors returns the nodes, and the shares.
func (f Forest) Tensors() []learners.Tensor {
	return []learners.Tensor{{Name: NodesTensor, Values: f.Nodes, Width: Fields}, {Name: SharesTensor, Values: f.Shares, Width: f.Classes}}
}
