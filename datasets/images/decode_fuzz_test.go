package images_test

import (
	"image"
	"image/color"
	"testing"

	"iwda/datasets/images"
	"iwda/datasets/internal/kernel"
	"iwda/internal/allocation"
)

// A file of any content is an image or an error, decoded and resized in memory that its
// size allows: a pixel takes up to 12 bytes as coefficients, 8 decoded and 3 as RGB.
func FuzzDecode(f *testing.F) {
	small := shaded(9, 5, 100)
	grey := image.NewGray(image.Rect(0, 0, 8, 8))
	paletted := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.RGBA{1, 2, 3, 255}})
	for _, m := range []image.Image{small, grey} {
		f.Add(jpegFile(f, m))
	}
	for _, m := range []image.Image{small, grey, paletted, image.NewNRGBA64(image.Rect(0, 0, 2, 2))} {
		f.Add(pngFile(f, m))
	}
	for _, c := range readPillow(f).Decode {
		f.Add(c.File)
	}
	for _, c := range readShown(f) {
		f.Add(c.File)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		const bytesPerPixel = 24
		limit := bytesPerPixel * (1<<22 + 512*len(file))
		allocation.Within(t, 1<<25+limit, func() {
			m, err := images.DecodeOwn(file)
			if err != nil {
				return
			}
			if len(m.Pix) != 3*m.Width*m.Height {
				t.Errorf("%d bytes for %d×%d pixels", len(m.Pix), m.Width, m.Height)
			}
			resize(blank(16, 16), m, kernel.Bicubic)
		})
	})
}
