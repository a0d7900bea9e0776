package datasets

import (
	"errors"
	"fmt"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// point is a position in a glyph's own coordinates: the height of the font's zero
// is 1, the centre of the glyph's bounding box is the origin, y grows downwards.
type point struct{ x, y float64 }

// outline is a glyph as closed polygons, fine enough to be bent.
type outline [][]point

// digitFont holds the outlines of a font's ten digits.
type digitFont struct{ digits [10]outline }

// pieces is the number of straight lines that every segment of an outline, curved
// or not, is cut into.
const pieces = 5

// parseDigits reads the digits of a TrueType or OpenType font.
func parseDigits(source []byte) (digitFont, error) {
	var result digitFont
	font, err := sfnt.Parse(source)
	if err != nil {
		return result, err
	}
	var buffer sfnt.Buffer
	var height float64
	for digit := range result.digits {
		index, err := font.GlyphIndex(&buffer, rune('0'+digit))
		if err != nil {
			return result, err
		}
		if index == 0 {
			return result, fmt.Errorf("no glyph for the digit %d", digit)
		}
		segments, err := font.LoadGlyph(&buffer, index, fixed.I(int(font.UnitsPerEm())), nil)
		if err != nil {
			return result, err
		}
		bounds := segments.Bounds()
		if digit == 0 {
			height = float64(bounds.Max.Y - bounds.Min.Y)
		}
		if height == 0 {
			return result, errors.New("the digit 0 is empty")
		}
		centre := bounds.Min.Add(bounds.Max).Div(fixed.I(2))
		result.digits[digit] = flatten(segments, func(p fixed.Point26_6) point {
			p = p.Sub(centre)
			return point{float64(p.X) / height, float64(p.Y) / height}
		})
	}
	return result, nil
}

// flatten cuts the segments of a glyph into polygons of mapped points.
func flatten(segments sfnt.Segments, mapped func(fixed.Point26_6) point) outline {
	var result outline
	var last point
	for _, segment := range segments {
		if segment.Op == sfnt.SegmentOpMoveTo {
			last = mapped(segment.Args[0])
			result = append(result, []point{last})
			continue
		}
		control := []point{last}
		for _, argument := range segment.Args[:arguments[segment.Op]] {
			control = append(control, mapped(argument))
		}
		contour := &result[len(result)-1]
		for i := 1; i <= pieces; i++ {
			*contour = append(*contour, bezier(control, float64(i)/pieces))
		}
		last = control[len(control)-1]
	}
	return result
}

// arguments are the numbers of points of segments.
var arguments = map[sfnt.SegmentOp]int{sfnt.SegmentOpLineTo: 1, sfnt.SegmentOpQuadTo: 2, sfnt.SegmentOpCubeTo: 3}

// bezier evaluates a Bézier curve at t in [0, 1] by de Casteljau's algorithm.
func bezier(control []point, t float64) point {
	var work [4]point
	n := copy(work[:], control)
	for ; n > 1; n-- {
		for i := range n - 1 {
			work[i].x += t * (work[i+1].x - work[i].x)
			work[i].y += t * (work[i+1].y - work[i].y)
		}
	}
	return work[0]
}
