package datasets

import (
	"math"
	"math/rand/v2"
)

// interval is a uniform distribution.
type interval struct{ low, high float64 }

func (v interval) draw(random *rand.Rand) float64 {
	return v.low + (v.high-v.low)*random.Float64()
}

// glyphStyle is how a domain looks: the ranges of what is drawn for every image.
type glyphStyle struct {
	fonts []string

	height    interval // of a zero, in pixels
	aspect    interval // width over height, 1 as in the font
	shift     interval // of the centre, in pixels, each direction
	rotation  interval // radians, clockwise
	shear     interval // pixels sideways for each pixel upwards
	bend      interval // amplitude of the bending waves, in pixels
	blur      interval // side weight of the smoothing kernel, in [0, 1/4]
	threshold interval // ink that becomes half covered
	edge      float64  // steepness around the threshold, 1 leaves the ink as it is

	background interval // value of no ink, 0 black to 1 white
	contrast   interval // what full ink adds to it
	noise      interval // standard deviation of the value
}

// glyphStyles are those of the domains of [DrawGlyphs].
var glyphStyles = map[string]*glyphStyle{
	// Glyphs are moved little, but each image differently, so that a classifier cannot learn
	// the fonts by heart.
	"clean": {
		fonts: []string{
			"goregular", "dejavusans", "dejavuserif", "liberationsansregular", "liberationserifregular",
			"lmroman10regular", "lmsans10regular", "stix2textregular",
		},
		height:    interval{15, 19},
		aspect:    interval{0.9, 1.1},
		shift:     interval{-2, 2},
		rotation:  interval{-0.1, 0.1},
		shear:     interval{-0.1, 0.1},
		bend:      interval{0, 0.5},
		threshold: interval{0.5, 0.5},
		edge:      1,
		contrast:  interval{0.9, 1},
	},
	// It differs from the clean one by what all of its images share, above all their size and
	// contrast, more than by what varies among them: such a shift misleads a classifier without
	// mistaking one class for another for good, and aligning features undoes it.
	"warped": {
		fonts: []string{
			"gomonobolditalic", "dejavusansmonobold", "dejavuserifbolditalic", "liberationmonoitalic",
			"liberationserifbolditalic", "lmmono10regular",
		},
		height:     interval{22, 24},
		aspect:     interval{1.2, 1.35},
		shift:      interval{-1, 1},
		rotation:   interval{-0.1, 0.1},
		shear:      interval{-0.05, 0.05},
		bend:       interval{0.2, 0.6},
		blur:       interval{0.15, 0.25},
		threshold:  interval{0.25, 0.35},
		edge:       1.5,
		background: interval{0.25, 0.35},
		contrast:   interval{0.4, 0.5},
		noise:      interval{0.08, 0.14},
	},
}

// distortion maps a glyph's coordinates to pixels: an affine map, then two waves
// that bend it.
type distortion struct {
	xx, xy, yx, yy float64
	centreX        float64
	centreY        float64
	amplitude      float64
	waveX, waveY   wave
}

// wave is sin(x·fx + y·fy + phase), in pixels and radians.
type wave struct{ fx, fy, phase float64 }

func (w wave) at(x, y float64) float64 { return math.Sin(x*w.fx + y*w.fy + w.phase) }

// newDistortion draws the distortion of one image.
func (s *glyphStyle) newDistortion(random *rand.Rand) distortion {
	height := s.height.draw(random)
	width := height * s.aspect.draw(random)
	sin, cos := math.Sincos(s.rotation.draw(random))
	shear := s.shear.draw(random)
	return distortion{
		// Scale, then shear along x, then rotate.
		xx: cos * width, xy: -cos*shear*height - sin*height,
		yx: sin * width, yy: -sin*shear*height + cos*height,
		centreX:   glyphSize/2 + s.shift.draw(random),
		centreY:   glyphSize/2 + s.shift.draw(random),
		amplitude: s.bend.draw(random),
		waveX:     newWave(random),
		waveY:     newWave(random),
	}
}

// newWave draws a wave in a random direction, one to two and a half image widths
// long.
func newWave(random *rand.Rand) wave {
	frequency := 2 * math.Pi / (glyphSize * interval{1, 2.5}.draw(random))
	sin, cos := math.Sincos(interval{0, 2 * math.Pi}.draw(random))
	return wave{frequency * cos, frequency * sin, interval{0, 2 * math.Pi}.draw(random)}
}

// apply returns the pixel coordinates of a point of a glyph.
func (d *distortion) apply(p point) (x, y float32) {
	px := d.centreX + d.xx*p.x + d.xy*p.y
	py := d.centreY + d.yx*p.x + d.yy*p.y
	return float32(px + d.amplitude*d.waveX.at(px, py)), float32(py + d.amplitude*d.waveY.at(px, py))
}
