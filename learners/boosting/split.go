package boosting

import (
	"cmp"
	"slices"
)

// cell is what the rows of a bin sum to.
type cell struct {
	g, h float64
	n    int
}

func (c *cell) add(s slope) {
	c.g += float64(s.g)
	c.h += float64(s.h)
	c.n++
}

func (c cell) plus(o cell) cell { return cell{c.g + o.g, c.h + o.h, c.n + o.n} }
func (c cell) less(o cell) cell { return cell{c.g - o.g, c.h - o.h, c.n - o.n} }

// score is twice what the loss falls by in a leaf's Newton step.
func (c cell) score(l2 float64) float64 { return c.g * c.g / (c.h + l2) }

// split parts the rows of a leaf by a feature.
type split struct {
	gain      float64 // 0 for none
	feature   int
	all, left cell
	// Numbers go left whose bin is at most last, and missing ones if the flag says so. Of a word the
	// first levels by their order go left; rest tells whether the rest does, too.
	last        int
	missingLeft bool
	below       *[mostBins]bool // bins that go left; nil in a leaf
}

const (
	leastH   = 1e-3  // second derivatives of a leaf
	leastGot = 1e-10 // gain, below which sums are rounding
	// leastLevel is how many rows a level needs for a side of its own, and smooth what is added to its
	// second derivatives.
	leastLevel = 10
	smooth     = 10
	mostLevels = 32 // listed of one side
)

// fill sums slopes of rows by their bin.
func (f *feature) fill(cells []cell, rows []int32, slopes []slope) {
	cells = cells[f.first : f.first+f.cells()]
	clear(cells)
	slopes = slopes[:len(rows)]
	for i, row := range rows {
		cells[f.bins[row]].add(slopes[i])
	}
}

// subtract takes one part from the cells of both.
func (f *feature) subtract(from, cells []cell) {
	from, cells = from[f.first:f.first+f.cells()], cells[f.first:f.first+f.cells()]
	for i := range from {
		from[i] = from[i].less(cells[i])
	}
}

// best returns the best split of a leaf by the feature.
func (f *feature) best(cells []cell, all cell, s *Settings) split {
	cells = cells[f.first : f.first+f.cells()]
	if f.word {
		return bestOfWord(cells, all, s)
	}
	last := len(cells) - 1
	missing := cells[last]
	best := bestUpTo(cells[:last], cell{}, all, missing.n > 0, s)
	if missing.n > 0 {
		if left := bestUpTo(cells[:last], missing, all, false, s); left.gain > best.gain {
			best, best.missingLeft = left, true
		}
	} else {
		best.missingLeft = 2*best.left.n > all.n
	}
	return best
}

// bestUpTo returns the best split of bins up to one, with what goes left in any case, from the others;
// whole tells whether all bins may go left.
func bestUpTo(bins []cell, left, all cell, whole bool, s *Settings) (best split) {
	parent := all.score(s.L2) + leastGot
	if !whole {
		bins = bins[:len(bins)-1]
	}
	for last := range bins {
		bin := &bins[last]
		if bin.n == 0 {
			continue
		}
		left = left.plus(*bin)
		if left.n < s.LeastRows || left.h < leastH {
			continue
		}
		right := all.less(left)
		if right.n < s.LeastRows || right.h < leastH {
			break
		}
		if gain := left.score(s.L2) + right.score(s.L2) - parent; gain > best.gain {
			best = split{gain: gain, all: all, left: left, last: last}
		}
	}
	return best
}

// levels returns bins of a word in the order of their Newton steps. Those of few rows, and of none of the levels,
// are together in bin 0.
func levels(cells []cell) (order []int, merged [mostBins]cell) {
	copy(merged[:], cells)
	order = append(order, 0)
	for bin := 1; bin < len(cells); bin++ {
		if cells[bin].n < leastLevel {
			merged[0] = merged[0].plus(cells[bin])
		} else {
			order = append(order, bin)
		}
	}
	step := func(bin int) float64 { return merged[bin].g / (merged[bin].h + smooth) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(step(a), step(b)) })
	return order, merged
}

func bestOfWord(cells []cell, all cell, s *Settings) (best split) {
	order, merged := levels(cells)
	l2 := s.L2
	if len(order) > 3 { // sets of levels are chosen among many
		l2 += smooth
	}
	parent, left, rest := all.score(l2)+leastGot, cell{}, false
	for place, bin := range order[:len(order)-1] {
		left = left.plus(merged[bin])
		rest = rest || bin == 0
		right := all.less(left)
		listed := place + 1
		if rest {
			listed = len(order) - listed
		}
		if min(left.n, right.n) < s.LeastRows || min(left.h, right.h) < leastH || listed > mostLevels {
			continue
		}
		if gain := left.score(l2) + right.score(l2) - parent; gain > best.gain {
			best = split{gain: gain, all: all, left: left, last: place}
		}
	}
	return best
}

// side tells which bins go left.
func (f *feature) side(cells []cell, s split) *[mostBins]bool {
	below := new([mostBins]bool)
	cells = cells[f.first : f.first+f.cells()]
	if !f.word {
		for bin := range s.last + 1 {
			below[bin] = true
		}
		below[len(cells)-1] = s.missingLeft
		return below
	}
	order, _ := levels(cells)
	for _, bin := range order[:s.last+1] {
		below[bin] = true
	}
	for bin := 1; bin < len(cells); bin++ {
		if cells[bin].n < leastLevel {
			below[bin] = below[0]
		}
	}
	return below
}
