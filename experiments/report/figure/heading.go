package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// headingHeight is that of a figure's title and of its note, a line each.
const headingHeight = 1.3 * vg.Centimeter

// drawHeading writes the title at the upper left and the note below it.
func drawHeading(c draw.Canvas, title, note string) {
	line := text.Style{Color: color.Black, Font: sans(11), XAlign: text.XLeft, Handler: plot.DefaultTextHandler}
	at := vg.Point{X: c.Min.X, Y: c.Max.Y - line.Font.Size}
	c.FillText(line, at, title)
	line.Color, line.Font = color.Gray{Y: 0x55}, sans(8)
	at.Y -= 0.5 * vg.Centimeter
	c.FillText(line, at, note)
}

// Measures of a legend.
const (
	legendLine  = 0.5 * vg.Centimeter // height of a row
	legendGap   = 0.2 * vg.Centimeter // above it
	sampleWidth = 1.1 * vg.Centimeter // of the line before a name
	entryGap    = 0.6 * vg.Centimeter // between entries
)

// legend names the lines of a figure below its panels, entries side by side in as
// many rows as they need.
type legend struct {
	entries []plot.Legend
	width   vg.Length // of an entry
	columns int
}

// add appends an entry: a name behind a sample of its line and glyph.
func (l *legend) add(name string, thumbnails ...plot.Thumbnailer) {
	entry := plot.NewLegend()
	entry.TextStyle.Font = sans(9)
	entry.ThumbnailWidth = sampleWidth
	entry.YPosition = draw.PosCenter
	entry.Left, entry.Top = true, true
	entry.Add(name, thumbnails...)
	l.entries = append(l.entries, entry)
	l.width = max(l.width, sampleWidth+entry.TextStyle.Width("  "+name)+entryGap)
	l.columns = max(1, min(len(l.entries), int((figureWidth-2*figureMargin)/l.width)))
}

func (l legend) rows() int { return (len(l.entries) + l.columns - 1) / max(l.columns, 1) }

func (l legend) height() vg.Length {
	if len(l.entries) == 0 {
		return 0
	}
	return vg.Length(l.rows())*legendLine + legendGap
}

// draw puts the legend at the bottom of the canvas, in its middle.
func (l legend) draw(c draw.Canvas) {
	left := c.Min.X + (c.Max.X-c.Min.X-vg.Length(l.columns)*l.width+entryGap)/2
	for i := range l.entries {
		row, column := i/l.columns, i%l.columns
		area := c
		area.Min.X = left + vg.Length(column)*l.width
		area.Max.X = area.Min.X + l.width
		area.Min.Y = c.Min.Y + vg.Length(l.rows()-1-row)*legendLine
		area.Max.Y = area.Min.Y + legendLine
		l.entries[i].Draw(area)
	}
}
