package datasets

import (
	_ "embed"
	"encoding/json"
	"slices"
)

// The digits of some fonts, by the names of these. A contour is its first point and then what is drawn from there:
// one point for a line, two for a quadratic Bézier curve, three for a cubic one. Points are x and y, 64 to a unit of
// the font, and y grows downwards.
//
//go:embed glyphs.json
var glyphsText []byte

// contours are what the fonts' file has of a digit.
type contours [][][]int

// point is a position in a glyph's own coordinates: the height of the font's zero
// is 1, the centre of the glyph's bounding box is the origin, y grows downwards.
type point struct{ x, y float64 }

// outline is a glyph as closed polygons, fine enough to be bent.
type outline [][]point

// digitFont holds the outlines of a font's ten digits.
type digitFont [10]outline

// pieces is the number of straight lines that every segment of an outline, curved
// or not, is cut into.
const pieces = 5

// digitFonts returns the fonts of such names.
func digitFonts(names []string) []digitFont {
	var all map[string][10]contours
	if err := json.Unmarshal(glyphsText, &all); err != nil {
		panic(err) // a test compares the file with the fonts
	}
	fonts := make([]digitFont, len(names))
	for f, name := range names {
		var height int
		for digit, glyph := range all[name] {
			var all [2][]int // coordinates
			for i, at := range slices.Concat(slices.Concat(glyph...)...) {
				all[i%2] = append(all[i%2], at)
			}
			var centre [2]int
			for i, of := range all {
				centre[i] = (slices.Min(of) + slices.Max(of)) / 2
			}
			if digit == 0 {
				height = slices.Max(all[1]) - slices.Min(all[1])
			}
			fonts[f][digit] = glyph.flatten(func(x, y int) point {
				return point{float64(x-centre[0]) / float64(height), float64(y-centre[1]) / float64(height)}
			})
		}
	}
	return fonts
}

// flatten cuts the segments of a glyph into polygons of mapped points.
func (c contours) flatten(mapped func(x, y int) point) outline {
	result := make(outline, len(c))
	for n, contour := range c {
		var last point
		for i, segment := range contour {
			control := []point{last}
			for p := 0; p < len(segment); p += 2 {
				control = append(control, mapped(segment[p], segment[p+1]))
			}
			last = control[len(control)-1]
			if i == 0 {
				result[n] = append(result[n], last)
				continue
			}
			for i := 1; i <= pieces; i++ {
				result[n] = append(result[n], bezier(control, float64(i)/pieces))
			}
		}
	}
	return result
}

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
