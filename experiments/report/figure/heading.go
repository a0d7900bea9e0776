package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	titleHeight = 0.8 * vg.Centimeter
	noteHeight  = 0.5 * vg.Centimeter // where the note has a line of its own
)

// heading is a figure's title at the upper left, and its note at the upper right, or
// below the title where both are too long for a line.
type heading struct {
	title, note           string
	titleStyle, noteStyle text.Style
	below                 bool
}

func newHeading(title, note string) heading {
	h := heading{title: title, note: note}
	h.titleStyle = text.Style{Color: color.Black, Font: sans(11), XAlign: text.XLeft, Handler: plot.DefaultTextHandler}
	h.noteStyle = text.Style{Color: color.Gray{Y: 0x55}, Font: sans(8), XAlign: text.XRight, Handler: plot.DefaultTextHandler}
	h.below = h.titleStyle.Width(title)+h.noteStyle.Width(note)+2*entryGap > figureWidth-2*figureMargin
	if h.below {
		h.noteStyle.XAlign = text.XLeft
	}
	return h
}

func (h heading) height() vg.Length {
	if h.below {
		return titleHeight + noteHeight
	}
	return titleHeight
}

func (h heading) draw(c draw.Canvas) {
	baseline := c.Max.Y - h.titleStyle.Font.Size
	c.FillText(h.titleStyle, vg.Point{X: c.Min.X, Y: baseline}, h.title)
	if h.below {
		c.FillText(h.noteStyle, vg.Point{X: c.Min.X, Y: baseline - noteHeight}, h.note)
		return
	}
	c.FillText(h.noteStyle, vg.Point{X: c.Max.X, Y: baseline}, h.note)
}
