package report

import (
	"image/color"
	"slices"

	"iwda/internal/convert"

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

func points(lengths ...float64) []vg.Length { return convert.Each(lengths, vg.Points) }

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
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 0xDD}
	p.Add(grid)
	return p
}

// newLegend returns an empty one, which stands below the panels.
func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.TextStyle.Font = sans(9)
	l.ThumbnailWidth = 1.1 * vg.Centimeter
	l.Padding = vg.Points(2)
	l.Left = true
	return l
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
