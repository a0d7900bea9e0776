package forest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"iwda/learners"
	"iwda/learners/internal/trees"
)

// grower grows trees, one after another, in buffers that all share.
type grower struct {
	rows    learners.Rows
	d       int
	random  *rand.Rand
	forest  Forest
	pure    []int          // of each class the leaf of its rows alone in forest.Shares, -1 for none yet
	mixed   map[string]int // of shares, as bytes, their leaf
	encoded []byte

	// The rows of each group, and the group of each row; nil if rows have none. bagged are the groups
	// of which the tree's sample has rows.
	members [][]int
	group   []int
	bagged  []bool

	// The tree's sample: of all rows how often they are drawn; those u that are, their
	// values (d×u), and labels.
	weights []int32
	drawn   []int32
	values  []float32
	labels  []int32
	// order is the sample's rows 0 to u-1, those of a node next to each other; keys are the rows of a
	// node sorted by a column; columns is a permutation of these.
	order   []int32
	keys    []uint64
	columns []int
	// counts are how often each class is in a node, and below those rows of it that were passed, all 0
	// between nodes.
	counts, below []int64
	open          []open
}

// open is a node that is to be split or to become a leaf, of these places of order.
type open struct{ node, from, to, depth int }

func newGrower(rows learners.Rows, random *rand.Rand) *grower {
	n, k := len(rows.Labels), rows.Classes
	g := &grower{
		rows: rows, d: rows.Columns(), random: random,
		forest:  Forest{Trees: allTrees, Classes: k, Nodes: make([]float32, allTrees*Fields)},
		pure:    slices.Repeat([]int{-1}, k),
		mixed:   map[string]int{},
		weights: make([]int32, n), counts: make([]int64, k), below: make([]int64, k),
	}
	for column := range g.d {
		g.columns = append(g.columns, column)
	}
	places := map[int]int{}
	for row, name := range rows.Groups {
		at, known := places[name]
		if !known {
			at, g.members = len(g.members), append(g.members, nil)
			places[name] = at
		}
		g.members[at], g.group = append(g.members[at], row), append(g.group, at)
	}
	g.bagged = make([]bool, len(g.members))
	return g
}

// draw draws the sample of a tree.
func (g *grower) draw() {
	clear(g.weights)
	n := len(g.weights)
	g.drawn, g.labels, g.order = g.drawn[:0], g.labels[:0], g.order[:0]
	pool := g.pool()
	for range min(n, mostDrawn) {
		row := g.random.IntN(n)
		if pool != nil {
			row = pool[g.random.IntN(len(pool))]
		}
		if g.weights[row]++; g.weights[row] == 1 {
			g.order, g.drawn = append(g.order, int32(len(g.drawn))), append(g.drawn, int32(row))
			g.labels = append(g.labels, int32(g.rows.Labels[row]))
		}
	}
	u := len(g.drawn)
	g.values, g.keys = slices.Grow(g.values[:0], g.d*u)[:g.d*u], slices.Grow(g.keys[:0], u)
	for i, row := range g.drawn {
		for column, v := range g.rows.Values[int(row)*g.d : (int(row)+1)*g.d] {
			g.values[column*u+i] = v
		}
	}
}

// pool draws groups, and returns their rows; nil if rows have none.
func (g *grower) pool() (rows []int) {
	clear(g.bagged)
	for range g.members {
		group := g.random.IntN(len(g.members))
		g.bagged[group] = true
		rows = append(rows, g.members[group]...)
	}
	return rows
}

// saw reports whether the tree's sample has the row, or others of its group.
func (g *grower) saw(row int) bool {
	if g.members != nil {
		return g.bagged[g.group[row]]
	}
	return g.weights[row] > 0
}

// weight is how often a row of the sample was drawn.
func (g *grower) weight(i int32) int64 { return int64(g.weights[g.drawn[i]]) }

// grow grows a tree of the sample.
func (g *grower) grow(tree int) {
	g.open = append(g.open[:0], open{tree, 0, len(g.order), 0})
	for len(g.open) > 0 {
		o := g.open[len(g.open)-1]
		g.open = g.open[:len(g.open)-1]
		rows := g.order[o.from:o.to]
		all, squares := int64(0), int64(0)
		for _, i := range rows {
			y, w := g.labels[i], g.weight(i)
			squares += w * (2*g.counts[y] + w)
			g.counts[y] += w
			all += w
		}
		if by, at, found := g.split(rows, all, squares); found && o.depth < mostDepth {
			middle := o.from + g.part(rows, by, at)
			child := len(g.forest.Nodes) / Fields
			g.set(o.node, float32(by), at, child, child+1)
			g.forest.Nodes = append(g.forest.Nodes, make([]float32, 2*Fields)...)
			g.open = append(g.open, open{child + 1, middle, o.to, o.depth + 1}, open{child, o.from, middle, o.depth + 1})
		} else {
			g.set(o.node, 0, float32(g.leaf(all, int(g.labels[rows[0]]))), o.node, o.node)
		}
		for _, i := range rows {
			g.counts[g.labels[i]] = 0
		}
	}
}

func (g *grower) set(node int, by, at float32, left, right int) {
	copy(g.forest.Nodes[node*Fields:], []float32{by, at, float32(left), float32(right)})
}

// split returns the column and the threshold that part the rows of a node best, which were drawn all
// times, Σ_y n_y² being squares. √d columns are tried, in an order that is drawn, and more as long as
// none of them parts the rows; there is none of rows of one class.
func (g *grower) split(rows []int32, all, squares int64) (by int, at float32, found bool) {
	if squares == all*all {
		return 0, 0, false
	}
	tried, best := max(1, int(math.Sqrt(float64(g.d)))), 0.0
	for i := range g.columns {
		if i >= tried && found {
			break
		}
		j := i + g.random.IntN(g.d-i)
		g.columns[i], g.columns[j] = g.columns[j], g.columns[i]
		if value, between := g.bestOf(g.columns[i], rows, all, squares); value > best {
			best, by, at, found = value, g.columns[i], between, true
		}
	}
	return by, at, found
}

// bestOf returns the threshold of a column at which the rows of a node are parted best, and how well:
// Σ_y l_y²/l + Σ_y r_y²/r, with l_y and r_y rows of class y on the sides. It is highest where Gini's
// impurity is lowest, and 0 for a constant column.
func (g *grower) bestOf(column int, rows []int32, all, squares int64) (best float64, at float32) {
	values := g.values[column*len(g.drawn) : (column+1)*len(g.drawn)]
	first, differ := values[rows[0]], false
	g.keys = g.keys[:0]
	for _, i := range rows {
		differ = differ || values[i] != first
		g.keys = append(g.keys, uint64(trees.Ordered(values[i]))<<32|uint64(i))
	}
	if !differ {
		return 0, 0
	}
	slices.Sort(g.keys)
	passed, squaresBelow := int64(0), int64(0)
	for place, key := range g.keys[:len(g.keys)-1] {
		i := int32(key & math.MaxUint32)
		y, w := g.labels[i], g.weight(i)
		squaresBelow += w * (2*g.below[y] + w)
		squares -= w * (2*(g.counts[y]-g.below[y]) - w)
		g.below[y] += w
		passed += w
		next := g.keys[place+1]
		if key>>32 == next>>32 {
			continue
		}
		if value := float64(squaresBelow)/float64(passed) + float64(squares)/float64(all-passed); value > best {
			best, at = value, trees.Halfway(values[i], values[int32(next&math.MaxUint32)])
		}
	}
	for _, i := range rows {
		g.below[g.labels[i]] = 0
	}
	return best, at
}

// part brings those rows to the front whose value is at most the threshold, and returns their number.
func (g *grower) part(rows []int32, by int, at float32) (low int) {
	values := g.values[by*len(g.drawn):]
	for i, row := range rows {
		if values[row] <= at {
			rows[low], rows[i] = row, rows[low]
			low++
		}
	}
	return low
}

// leaf returns the row of forest.Shares for the rows of a node, of which one has the label.
func (g *grower) leaf(all int64, label int) int {
	f, k := &g.forest, g.rows.Classes
	if g.counts[label] < all {
		g.encoded = g.encoded[:0]
		for y, count := range g.counts {
			if count > g.counts[label] {
				label = y
			}
			g.encoded = binary.LittleEndian.AppendUint32(g.encoded, math.Float32bits(float32(count)/float32(all)))
		}
		if leaf, known := g.mixed[string(g.encoded)]; known {
			return leaf
		}
		if len(g.mixed)*k < mostShares {
			leaf := len(f.Shares) / k
			g.mixed[string(g.encoded)] = leaf
			for _, count := range g.counts {
				f.Shares = append(f.Shares, float32(count)/float32(all))
			}
			return leaf
		}
	}
	if g.pure[label] < 0 {
		g.pure[label] = len(f.Shares) / k
		f.Shares = append(f.Shares, make([]float32, k)...)
		f.Shares[len(f.Shares)-k+label] = 1
	}
	return g.pure[label]
}
