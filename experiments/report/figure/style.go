package figure

import (
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"iwda/experiments/config"
)

// hues is the palette of Okabe and Ito (2008), which colour-blind readers tell
// apart, without black, which source-only has, and yellow, which pales on white.
// An alignment takes three in a row: its base, estimated and oracle weights.
var hues = []color.NRGBA{
	{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, // orange
	{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, // blue
	{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, // sky blue
	{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, // vermillion
	{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, // bluish green
	{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, // reddish purple
}

// marks are the glyphs of the alignments, filled for estimated weights and hollow
// otherwise.
var marks = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}

// round is the number of alignments after which hues and marks begin again together.
const round = 6

// hollow draws a filled glyph as an outline around white.
type hollow struct {
	draw.GlyphDrawer
}

// DrawGlyph implements draw.GlyphDrawer.
func (h hollow) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	h.GlyphDrawer.DrawGlyph(c, style, at)
	c.SetColor(color.White)
	style.Radius *= 0.6
	h.GlyphDrawer.DrawGlyph(c, style, at)
}

// style tells the lines of a figure apart, in grey print too: the glyph shows the
// alignment, or the settings of a method, the dashes what the weights are and which losses they enter.
type style struct {
	color color.NRGBA
	dash  []vg.Length
	glyph draw.GlyphDrawer
}

// variations are the settings after the @ of a method's name in the order in which they take dashes and
// hues. One that is not here comes after them.
var variations = []string{"linear", "forest", "boosting", "own", "matched", "appendix", "released"}

// variationMarks are the glyphs of settings, none of which an alignment has.
var variationMarks = []draw.GlyphDrawer{draw.PlusGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}

// styleOf returns the style of the method, the same in every figure. Each of its settings has a hue and a
// mark of its own, as far as these go, and dots between its dashes.
func styleOf(name string) style {
	base, of, varied := strings.Cut(name, "@")
	method, known := config.ParseMethod(base)
	if !known {
		method.Alignment = config.NoAlignment
	}
	s := methodStyle(method)
	if !varied {
		return s
	}
	place := slices.Index(variations, of)
	if place < 0 {
		place = len(variations)
	}
	if s.dash == nil {
		s.dash = points(10, 2)
	}
	for range place + 1 {
		s.dash = append(s.dash, points(1, 1)...)
	}
	s.color, s.glyph = hues[(slices.Index(hues, s.color)+1+place)%len(hues)], variationMarks[place%len(variationMarks)]
	return s
}

func methodStyle(method config.Method) style {
	if method.Alignment == config.NoAlignment {
		return style{color: color.NRGBA{A: 0xFF}, dash: points(1, 2), glyph: draw.CrossGlyph{}}
	}
	family := method.Alignment.Properties().Place
	kind, dash := 0, points(4, 2)
	switch method.Weights {
	case config.EstimatedWeights:
		kind, dash = 1, nil
	case config.OracleWeights:
		kind, dash = 2, points(7, 2, 1, 2)
	}
	if kind > 0 && method.WeightClassification != method.WeightDomain {
		// The ablations: two hues further on for each loss that has weights alone.
		if kind += 2; method.WeightDomain {
			kind += 2
		}
		dash = append(dash, points(2, 1, 2, 1)...)
	}
	for range family / round {
		// Hues and marks begin again: the breaks in the lines tell the rounds apart.
		dash = append(dash, points(12, 2)...)
	}
	glyph := marks[family%len(marks)]
	if method.Weights != config.EstimatedWeights {
		glyph = hollow{glyph}
	}
	return style{color: hues[(3*family+kind)%len(hues)], dash: dash, glyph: glyph}
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
