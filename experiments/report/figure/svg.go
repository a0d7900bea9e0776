package figure

import (
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas makes an SVG look alike everywhere. A font is named in an SVG, not
// embedded: whoever lacks it gets another one without serifs, and every text as wide
// as it was laid out.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length // of the texts in their order
}

// FillString implements vg.Canvas.
func (c *svgCanvas) FillString(face font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, face.Width(text))
	c.Canvas.FillString(face, at, text)
}

// WriteTo implements io.WriterTo.
func (c *svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var svg bytes.Buffer
	if _, err := c.Canvas.WriteTo(&svg); err != nil {
		return 0, err
	}
	text := bytes.ReplaceAll(svg.Bytes(),
		[]byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	parts := bytes.SplitAfter(text, []byte("<text "))
	var out bytes.Buffer
	for i, part := range parts {
		out.Write(part)
		if i < len(parts)-1 {
			fmt.Fprintf(&out, `textLength="%.2f" lengthAdjust="spacingAndGlyphs" `, c.widths[i].Points())
		}
	}
	return out.WriteTo(w)
}
