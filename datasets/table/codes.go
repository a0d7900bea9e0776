package table

import "strings"

// codes tells whether the cells of a column are numbers that stand for something, as zip codes do: they
// begin with zeros that no number has, and either all have the same length, or all begin with 0. With a
// point, as in 008.45, what is before it has one length and what is after it has not.
type codes struct {
	cells, zeros   int // cells, and those that begin with 0 before another digit
	length, after  int // digits before and after the point in the first cell
	ragged, differ bool
	points, others bool // some have a point; some are no digits
}

func (c *codes) add(text string) {
	if c.others {
		return
	}
	text = strings.TrimSpace(text)
	before, after, point := strings.Cut(text, ".")
	if before == "" || strings.Trim(before, "0123456789") != "" || strings.Trim(after, "0123456789") != "" {
		c.others = true
		return
	}
	if c.cells++; c.cells == 1 {
		c.length, c.after = len(before), len(after)
	}
	c.ragged, c.differ, c.points = c.ragged || len(before) != c.length, c.differ || len(after) != c.after, c.points || point
	if before[0] == '0' && len(before) > 1 {
		c.zeros++
	}
}

// are reports whether the cells that were added are codes.
func (c *codes) are() bool {
	switch {
	case c.others || c.zeros == 0:
		return false
	case c.points:
		return !c.ragged && c.differ
	}
	return !c.ragged || c.zeros == c.cells
}
