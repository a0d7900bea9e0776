package chart

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Cloud is rows in the plane, which several figures show alike.
type Cloud struct {
	at [][2]float64 // of each row, in units of the view box
	// Edge is the number of rows that stand at the edge, as they are beyond the axes.
	Edge int
}

// NewCloud places rows, which there must be. The axes reach over all but the outermost hundredth
// of rows on each side; rows beyond them stand at the edge.
func NewCloud(rows [][2]float64) Cloud {
	c := Cloud{at: make([][2]float64, len(rows))}
	outside := make([]bool, len(rows))
	for axis, place := range []func(float64) float64{x, y} {
		values := make([]float64, len(rows))
		for i, row := range rows {
			values[i] = row[axis]
		}
		slices.Sort(values)
		low, high := stat.Quantile(0.01, stat.Empirical, values, nil), stat.Quantile(0.99, stat.Empirical, values, nil)
		margin := 0.15 * (high - low)
		if margin == 0 {
			margin = 1
		}
		low, high = low-margin, high+margin
		for i, row := range rows {
			share := (row[axis] - low) / (high - low)
			outside[i] = outside[i] || share < 0 || share > 1
			c.at[i][axis] = place(max(0, min(1, share)))
		}
	}
	for _, is := range outside {
		if is {
			c.Edge++
		}
	}
	return c
}

// hues and Marks are the numbers of colours, and of marks: colours of round dots, then of squares.
const (
	hues  = 7
	Marks = 2 * hues
)

// MarkClass is the class of the style sheet by which a mark is drawn; those from Marks on are grey.
func MarkClass(mark int) string {
	switch {
	case mark >= Marks:
		return "dots other"
	case mark >= hues:
		return fmt.Sprintf("dots square hue%d", mark-hues)
	}
	return fmt.Sprintf("dots hue%d", mark)
}

// Name is a text in a scatter plot.
type Name struct {
	Text string
	Rows []int // at whose middle, by medians, it stands
}

// Scatter draws those rows whose mark is not negative by the style sheet's class for it, and names
// over them.
func (c Cloud) Scatter(title, description string, axes [2]string, marks []int, class func(mark int) string, names []Name) template.HTML {
	s := begin(title, description)
	s.axes(axes[0], axes[1], none, none)
	// A mark's dots are a path, which is short, in layers, so that none hides all others.
	const layers = 8
	size, last := 0, -1
	for _, m := range marks {
		if m >= 0 {
			size++
		}
		last = max(last, m)
	}
	s.add(`<g style="stroke-width:%.1f">`, max(2.2, min(6, 6-float64(size)/500)))
	for layer := range layers {
		paths := make([]strings.Builder, last+1)
		for i := layer; i < len(marks); i += layers {
			if m := marks[i]; m >= 0 {
				fmt.Fprintf(&paths[m], "M%.1f %.1fh.1", c.at[i][0], c.at[i][1])
			}
		}
		for m := range paths {
			if paths[m].Len() > 0 {
				s.add(`<path class="%s" d="%s"/>`, class(m), paths[m].String())
			}
		}
	}
	s.add("</g>")
	s.names(c, names)
	return s.end()
}

// names writes texts at the middles of their rows, inside the figure and below each other.
func (s *svg) names(c Cloud, names []Name) {
	const most, wide, high = 24, 3.6, 13 // letters; half the width of one, and the height
	type box struct {
		text    string
		x, y, w float64 // w is half the width
	}
	var boxes []box
	for _, n := range names {
		letters := []rune(n.Text)
		if len(letters) > most {
			letters = append(letters[:most-1], '…')
		}
		b := box{text: string(letters), w: wide * float64(len(letters))}
		for axis, to := range []*float64{&b.x, &b.y} {
			var values []float64
			for _, row := range n.Rows {
				values = append(values, c.at[row][axis])
			}
			slices.Sort(values)
			*to = stat.Quantile(0.5, stat.Empirical, values, nil)
		}
		b.x = max(b.w, min(width-b.w, b.x))
		boxes = append(boxes, b)
	}
	slices.SortStableFunc(boxes, func(a, b box) int { return cmp.Compare(a.y, b.y) })
	for i := range boxes {
		b := &boxes[i]
		for _, o := range boxes[:i] {
			if math.Abs(o.x-b.x) < o.w+b.w && math.Abs(o.y-b.y) < high {
				b.y = o.y + high
			}
		}
		s.add(`<text class="middle name" x="%.1f" y="%.1f">%s</text>`, b.x, b.y+4, escape(b.text))
	}
}
