package figure

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// hues are black and the palette of Okabe and Ito (2008), which colour-blind readers tell
// apart, without yellow, which pales on white.
var hues = []color.NRGBA{
	{A: 0xFF},
	{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, // orange
	{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, // blue
	{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, // vermillion
	{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, // bluish green
	{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, // reddish purple
	{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, // sky blue
}

var marks = []draw.GlyphDrawer{
	draw.CrossGlyph{}, draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
}

var dashes = [][]vg.Length{points(1, 2), nil, points(4, 2), points(7, 2, 1, 2), points(10, 2, 1, 1, 1, 1)}

// style tells the lines of a figure apart, in grey print too.
type style struct {
	color color.NRGBA
	dash  []vg.Length
	glyph draw.GlyphDrawer
}

// styleOf returns the style of one of an experiment's methods, the same in all of its figures: the numbers of
// hues, marks and dashes have no common factor, so that all methods differ in two of them.
func styleOf(methods []string, name string) style {
	place := max(0, slices.Index(methods, name))
	return style{hues[place%len(hues)], dashes[place%len(dashes)], marks[place%len(marks)]}
}

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: vg.Points(1.3), Dashes: s.dash}
}

func (s style) mark() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Radius: vg.Points(2.4), Shape: s.glyph}
}

// band is the color of the area around the line: that of the line, nearly
// transparent.
func (s style) band() color.NRGBA {
	faint := s.color
	faint.A = 0x26
	return faint
}

func points(lengths ...float64) []vg.Length {
	converted := make([]vg.Length, len(lengths))
	for i, length := range lengths {
		converted[i] = vg.Points(length)
	}
	return converted
}

// sans is the figures' typeface.
func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

// newPanel returns an empty plot in the figures' style with these labels.
func newPanel(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = sans(9)
		axis.Label.Padding = vg.Points(3)
		axis.Tick.Label.Font = sans(8)
		axis.Tick.Length = vg.Points(3)
		axis.Width, axis.Tick.Width = vg.Points(0.5), vg.Points(0.5)
		axis.Padding = vg.Points(3)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 0xDD}
	grid.Horizontal.Width = vg.Points(0.5)
	p.Add(grid)
	return p
}

// margin is the share of an axis left free at each end, so that no glyph reaches
// over the frame.
const margin = 0.04

// setAxis lets the axis reach from low to high and a margin around them, with
// round ticks, at most count of them, no closer than smallest and within floor and
// ceiling, beyond which the quantity has no values.
func setAxis(axis *plot.Axis, low, high float64, count int, smallest, floor, ceiling float64) {
	if low > high { // no data
		low, high = 0, 1
	}
	pad := margin * (high - low)
	if pad == 0 {
		pad = math.Max(margin*math.Abs(high), margin)
	}
	axis.Min, axis.Max = low-pad, high+pad
	axis.Tick.Marker = plot.TickerFunc(func(from, to float64) []plot.Tick {
		from, to = math.Max(from, floor), math.Min(to, ceiling)
		step := roundStep((to-from)/float64(count), smallest)
		decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
		var ticks []plot.Tick
		for i := math.Ceil(from/step - 1e-9); i*step <= to+1e-9*step; i++ {
			value := i*step + 0 // not -0
			ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', decimals, 64)})
		}
		return ticks
	})
}

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that is at
// least as large as both arguments.
func roundStep(least, smallest float64) float64 {
	least = math.Max(least, smallest)
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= least*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

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
