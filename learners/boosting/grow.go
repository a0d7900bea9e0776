package boosting

import (
	"context"
	"math"
	"slices"

	"iwda/internal/convert"
	"iwda/internal/parallel"
	"iwda/learners"
)

// booster adds trees to a model of some of the rows.
type booster struct {
	labels []int
	data   *table
	s      Settings
	learnt []int32     // rows
	start  []float64   // score of each tree's class before the first round
	scores [][]float64 // trees × n, of all rows, those held out too
	trees  [][]float32 // nodes of each tree, round after round
	slopes [][]slope   // trees × learnt rows, of this round
}

// slope is the gradient of the loss in a score, and its second derivative.
type slope struct{ g, h float32 }

func newBooster(rows learners.Rows, data *table, s Settings, fold []int, held int) *booster {
	n := len(rows.Labels)
	b := &booster{labels: rows.Labels, data: data, s: s}
	counts, all := slices.Repeat([]float64{1 / float64(rows.Classes)}, rows.Classes), 1.0 // as if one more row were of all classes
	for i := range n {
		if fold == nil || fold[i] != held {
			b.learnt = append(b.learnt, int32(i))
			counts[rows.Labels[i]]++
			all++
		}
	}
	if rows.Classes == 2 {
		b.start = []float64{math.Log(counts[1] / counts[0])}
	} else {
		b.start = convert.Each(counts, func(count float64) float64 { return math.Log(count / all) })
	}
	for _, score := range b.start {
		b.scores = append(b.scores, slices.Repeat([]float64{score}, n))
		b.slopes = append(b.slopes, make([]slope, len(b.learnt)))
	}
	return b
}

// setSlopes computes those of the learnt rows.
func (b *booster) setSlopes() {
	const least = 1e-16 // second derivative
	p := make([]float64, len(b.scores))
	for place, row := range b.learnt {
		y := b.labels[row]
		if len(p) == 1 {
			p[0], y = 1/(1+math.Exp(-b.scores[0][row])), y-1
		} else {
			largest, sum := math.Inf(-1), 0.0
			for tree := range p {
				largest = max(largest, b.scores[tree][row])
			}
			for tree := range p {
				p[tree] = math.Exp(b.scores[tree][row] - largest)
				sum += p[tree]
			}
			for tree := range p {
				p[tree] /= sum
			}
		}
		for tree, p := range p {
			g := p
			if tree == y {
				g--
			}
			b.slopes[tree][place] = slope{float32(g), float32(max(p*(1-p), least))}
		}
	}
}

// model returns the trees of the first rounds.
func (b *booster) model(rounds int) Model {
	return newModel(b.trees[:rounds*len(b.start)], b.start)
}

// crew are the growers that work at the same time.
type crew struct {
	threads int
	growers []*grower
}

func newCrew(data *table, s Settings, boosters, trees int) *crew {
	const most = 4 // times the cells of the largest tree, 800 MB
	c := &crew{threads: s.threads}
	growers := max(1, min(s.threads, boosters*trees, most*mostCells/max(1, data.cells*(s.Leaves+1))))
	for range growers {
		c.growers = append(c.growers, &grower{data: data, s: s, threads: max(1, s.threads/growers)})
	}
	return c
}

// round adds the trees of a round to each booster.
func (c *crew) round(ctx context.Context, boosters []*booster) error {
	parallel.Each(c.threads, len(boosters), func(_, i int) { boosters[i].setSlopes() })
	type task struct {
		of   *booster
		tree int
	}
	var tasks []task
	for _, b := range boosters {
		for tree := range b.start {
			tasks = append(tasks, task{b, tree})
			b.trees = append(b.trees, nil)
		}
	}
	parallel.Each(len(c.growers), len(tasks), func(worker, i int) {
		if t := tasks[i]; ctx.Err() == nil {
			t.of.trees[len(t.of.trees)-len(t.of.start)+t.tree] = c.growers[worker].grow(t.of, t.tree)
		}
	})
	return ctx.Err()
}

// grower grows trees, one after another, in buffers that all share.
type grower struct {
	data    *table
	s       Settings
	threads int
	// rows are those of the tree, of a leaf next to each other, and slopes theirs.
	rows, rowsAside     []int32
	slopes, slopesAside []slope
	seen                []bool // of all rows: those of the tree, if there are others
	free                [][]cell
	candidates          [2][]split
	nodes               []node
}

// node is one of a tree that grows: a split, or a leaf where below is nil.
type node struct {
	split
	left, right int
	value       float64
}

// leaf is a leaf that may be split yet.
type leaf struct {
	node, from, to int
	cells          []cell
	best           split
}

// grow grows a tree of the rows that a booster learns from, adds its values to the scores, and
// returns its nodes.
func (g *grower) grow(b *booster, tree int) []float32 {
	g.nodes = append(g.nodes[:0], node{})
	g.rows, g.slopes = append(g.rows[:0], b.learnt...), append(g.slopes[:0], b.slopes[tree]...)
	var all cell
	for _, of := range g.slopes {
		all.add(of)
	}
	root := leaf{0, 0, len(g.rows), nil, split{}}
	if g.mayPart(all) {
		root.cells = g.histogram()
		g.each(len(g.rows), func(i int, f *feature) {
			f.fill(root.cells, g.rows, g.slopes)
			g.candidates[0][i] = f.best(root.cells, all, &g.s)
		})
		root.best = g.bestOf(0, root.cells)
	}
	leaves := []leaf{root}
	g.nodes[0].all = all
	for len(leaves) < g.s.Leaves {
		next := 0
		for i := range leaves {
			if leaves[i].best.gain > leaves[next].best.gain {
				next = i
			}
		}
		if leaves[next].best.gain <= 0 {
			break
		}
		left, right := g.part(leaves[next], len(leaves)+1 < g.s.Leaves)
		leaves[next] = left
		leaves = append(leaves, right)
	}
	for _, l := range leaves {
		n := &g.nodes[l.node]
		n.value = -g.s.Rate * n.all.g / (n.all.h + g.s.L2)
		for _, row := range g.rows[l.from:l.to] {
			b.scores[tree][row] += n.value
		}
		g.release(l.cells)
	}
	g.addToOthers(b.scores[tree])
	return exported(g.data, g.nodes)
}

// mayPart tells whether rows are enough for two leaves.
func (g *grower) mayPart(all cell) bool { return all.n >= 2*g.s.LeastRows && all.h >= 2*leastH }

// part splits a leaf. If further splits may follow, it finds the best ones of its parts.
func (g *grower) part(l leaf, further bool) (left, right leaf) {
	n := &g.nodes[l.node]
	n.split = l.best
	n.left, n.right = len(g.nodes), len(g.nodes)+1
	middle := l.from + g.sort(l.from, l.to, g.data.features[l.best.feature].bins, l.best.below)
	left, right = leaf{n.left, l.from, middle, nil, split{}}, leaf{n.right, middle, l.to, nil, split{}}
	ofLeft, ofRight := l.best.left, l.best.all.less(l.best.left)
	g.nodes = append(g.nodes, node{split: split{all: ofLeft}}, node{split: split{all: ofRight}})
	mayLeft, mayRight := further && g.mayPart(ofLeft), further && g.mayPart(ofRight)
	if !mayLeft && !mayRight {
		g.release(l.cells)
		return left, right
	}
	// Cells of the smaller part are counted, those of the larger one are what is left.
	small, large, mays := &left, &right, [2]bool{mayLeft, mayRight}
	of := [2]cell{ofLeft, ofRight}
	if small.to-small.from > large.to-large.from {
		small, large = large, small
		mays[0], mays[1], of[0], of[1] = mays[1], mays[0], of[1], of[0]
	}
	small.cells, large.cells = g.histogram(), l.cells
	g.each(small.to-small.from, func(i int, f *feature) {
		f.fill(small.cells, g.rows[small.from:small.to], g.slopes[small.from:small.to])
		f.subtract(large.cells, small.cells)
		for side, cells := range [2][]cell{small.cells, large.cells} {
			if g.candidates[side][i] = (split{}); mays[side] {
				g.candidates[side][i] = f.best(cells, of[side], &g.s)
			}
		}
	})
	for side, l := range [2]*leaf{small, large} {
		if l.best = g.bestOf(side, l.cells); l.best.gain <= 0 {
			g.release(l.cells)
			l.cells = nil
		}
	}
	return left, right
}

// each calls do for the features; a leaf's rows say whether that is worth several threads.
func (g *grower) each(rows int, do func(i int, f *feature)) {
	const worth = 1 << 14 // cells and rows
	threads := g.threads
	features := g.data.features
	if len(features)*(rows+mostBins) < worth {
		threads = 1
	}
	for side := range g.candidates {
		g.candidates[side] = slices.Grow(g.candidates[side][:0], len(features))[:len(features)]
	}
	parallel.Each(threads, len(features), func(_, i int) { do(i, features[i]) })
}

// bestOf returns the best of a side's candidates, the first of equal ones, with which bins go left.
func (g *grower) bestOf(side int, cells []cell) (best split) {
	for i, c := range g.candidates[side] {
		if c.gain > best.gain {
			best = c
			best.feature = i
		}
	}
	if best.gain > 0 {
		best.below = g.data.features[best.feature].side(cells, best)
	}
	return best
}

// sort brings the rows whose bin is below to the front, both sides in their order, and returns how many
// these are.
func (g *grower) sort(from, to int, bins []uint8, below *[mostBins]bool) (low int) {
	rows, slopes := g.rows[from:to], g.slopes[from:to]
	g.rowsAside, g.slopesAside = g.rowsAside[:0], g.slopesAside[:0]
	for i, row := range rows {
		if below[bins[row]] {
			rows[low], slopes[low] = row, slopes[i]
			low++
		} else {
			g.rowsAside, g.slopesAside = append(g.rowsAside, row), append(g.slopesAside, slopes[i])
		}
	}
	copy(rows[low:], g.rowsAside)
	copy(slopes[low:], g.slopesAside)
	return low
}

// addToOthers adds the tree's values to the scores of rows that it has not learnt from.
func (g *grower) addToOthers(scores []float64) {
	if len(g.rows) == len(scores) {
		return
	}
	g.seen = slices.Grow(g.seen[:0], len(scores))[:len(scores)]
	clear(g.seen)
	for _, row := range g.rows {
		g.seen[row] = true
	}
	for row, seen := range g.seen {
		if seen {
			continue
		}
		n := &g.nodes[0]
		for n.below != nil {
			if n.below[g.data.features[n.feature].bins[row]] {
				n = &g.nodes[n.left]
			} else {
				n = &g.nodes[n.right]
			}
		}
		scores[row] += n.value
	}
}

// histogram returns cells of all features, to be filled.
func (g *grower) histogram() []cell {
	if last := len(g.free) - 1; last >= 0 {
		cells := g.free[last]
		g.free = g.free[:last]
		return cells
	}
	return make([]cell, g.data.cells)
}

func (g *grower) release(cells []cell) {
	if cells != nil {
		g.free = append(g.free, cells)
	}
}
