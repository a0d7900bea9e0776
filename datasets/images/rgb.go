package images

import "fmt"

// RGB is an image of red, green and blue bytes, three a pixel, row by row. Row y
// starts at Pix[y*Stride]; a view of a part of an image has its image's stride.
type RGB struct {
	Pix           []byte
	Stride        int
	Width, Height int
}

// Crop returns a view of the width×height pixels whose upper left corner is (x, y).
// It panics where they are not all inside the image.
func (m *RGB) Crop(x, y, width, height int) *RGB {
	if x < 0 || y < 0 || width <= 0 || height <= 0 || x+width > m.Width || y+height > m.Height {
		panic(fmt.Sprintf("images: Crop: %d×%d pixels at (%d, %d) of %d×%d", width, height, x, y, m.Width, m.Height))
	}
	start := y*m.Stride + 3*x
	end := start + (height-1)*m.Stride + 3*width
	return &RGB{m.Pix[start:end:end], m.Stride, width, height}
}

// row returns the bytes of row y.
func (m *RGB) row(y int) []byte { return m.Pix[y*m.Stride:][: 3*m.Width : 3*m.Width] }

// reshape makes m a width×height image of its own, with any content, in the memory
// that it has where that is enough.
func (m *RGB) reshape(width, height int) {
	*m = RGB{grown(m.Pix, 3*width*height), 3 * width, width, height}
}
