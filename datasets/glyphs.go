package datasets

import (
	"fmt"
	"image"
	"image/draw"
	"math/rand/v2"

	"golang.org/x/image/vector"
)

// glyphSize is the height and width of a drawn image, that of MNIST.
const glyphSize = 28

// DrawGlyphs draws perClass images of each digit: {1, 28, 28}, light on dark. Two
// domains share the classes and nothing else, so that a classifier of the first
// must adapt to the second:
//
//   - "clean": upright text fonts, sharp, each image moved and bent a little;
//   - "warped": other fonts, most of them bold or slanted, larger and wider, with
//     thick strokes, blurred, faded and noisy.
//
// The split, as in "train" and "test", and the seed choose the images: the same
// arguments draw the same ones, another split or seed draws independent ones of
// the same distribution. Row i is of class i mod 10. The set is named
// domain-split. An unknown domain is an error. DrawGlyphs panics where perClass is
// negative.
func DrawGlyphs(domain, split string, perClass int, seed int64) (*Images, error) {
	style := glyphStyles[domain]
	if style == nil {
		return nil, fmt.Errorf("datasets: no glyph domain %q, want clean or warped", domain)
	}
	fonts := digitFonts(style.fonts)
	random := rand.New(Stream(seed, "glyphs "+domain+" "+split))
	const pixels = glyphSize * glyphSize
	classNames := DigitNames()
	n := perClass * len(classNames)
	images := &Images{
		rows:   rows{name: domain + "-" + split, shape: []int{1, glyphSize, glyphSize}, size: pixels, classNames: classNames},
		pixels: make([]byte, n*pixels),
	}
	pen := &pen{
		rasterizer: vector.NewRasterizer(glyphSize, glyphSize),
		mask:       image.NewAlpha(image.Rect(0, 0, glyphSize, glyphSize)),
	}
	for i := range n {
		class := i % len(classNames)
		images.labels.Add(class, true)
		font := &fonts[random.IntN(len(fonts))]
		pen.draw(font[class], style, random)
		pen.develop(images.pixels[i*pixels:(i+1)*pixels], style, random)
	}
	return images, nil
}

// pen rasterises outlines; it holds the buffers that all images of a set share.
type pen struct {
	rasterizer *vector.Rasterizer
	mask       *image.Alpha
	ink, temp  [glyphSize * glyphSize]float32 // 0 none, 1 full
}

// draw rasterises a digit, distorted at random, into the pen's ink.
func (p *pen) draw(digit outline, style *glyphStyle, random *rand.Rand) {
	warp := style.newDistortion(random)
	p.rasterizer.Reset(glyphSize, glyphSize)
	for _, contour := range digit {
		for i, at := range contour {
			x, y := warp.apply(at)
			if i == 0 {
				p.rasterizer.MoveTo(x, y)
			} else {
				p.rasterizer.LineTo(x, y)
			}
		}
		p.rasterizer.ClosePath()
	}
	p.rasterizer.DrawOp = draw.Src
	p.rasterizer.Draw(p.mask, p.mask.Bounds(), image.Opaque, image.Point{})
	for i, alpha := range p.mask.Pix {
		p.ink[i] = float32(alpha) / 255
	}
}

// develop turns the pen's ink into the bytes of an image: blur, stroke width,
// contrast, noise.
func (p *pen) develop(dst []byte, style *glyphStyle, random *rand.Rand) {
	blur := style.blur.draw(random)
	threshold := style.threshold.draw(random)
	background := style.background.draw(random)
	contrast := style.contrast.draw(random)
	noise := style.noise.draw(random)
	if blur > 0 {
		p.blur(float32(blur))
	}
	for i, ink := range p.ink {
		// A steeper edge at another threshold makes strokes thinner or thicker.
		ink = clamp01((ink-float32(threshold))*float32(style.edge) + 0.5)
		value := float32(background) + float32(contrast)*ink
		if noise > 0 {
			value += float32(noise * random.NormFloat64())
		}
		dst[i] = byte(clamp01(value)*255 + 0.5)
	}
}

// blur smooths the ink twice in each direction with the kernel (s, 1-2s, s), the
// outside counting as empty.
func (p *pen) blur(s float32) {
	for range 2 {
		smooth(&p.temp, &p.ink, glyphSize, 1, s)
		smooth(&p.ink, &p.temp, 1, glyphSize, s)
	}
}

// smooth filters lines of src whose starts lie `line` apart and whose values lie
// `step` apart.
func smooth(dst, src *[glyphSize * glyphSize]float32, line, step int, s float32) {
	for start := 0; start < glyphSize*line; start += line {
		var before float32
		for j := range glyphSize {
			at := start + j*step
			var after float32
			if j+1 < glyphSize {
				after = src[at+step]
			}
			dst[at] = s*(before+after) + (1-2*s)*src[at]
			before = src[at]
		}
	}
}

func clamp01(v float32) float32 { return min(max(v, 0), 1) }
