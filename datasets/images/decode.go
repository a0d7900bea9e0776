package images

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// What of a header is believed. Memory for all pixels is taken before the first is read.
const (
	// maxPixels are 0.2 GB of RGB, and as decoded before, of 16 bits a channel, 0.5 GB. Each
	// decoder may have that.
	maxPixels = 1 << 26
	// freePixels may come from any file; beyond them it must have a byte for every
	// pixelsPerByte. A whole JPEG file has more: a bit at least for 8×8 pixels. A PNG
	// or WebP file may have less where it is almost all of one colour.
	freePixels    = 1 << 22
	pixelsPerByte = 512
	// maxSide is the longest side that a JPEG file can have. Resizing keeps a row as
	// wide as the result for every row of the image, however narrow.
	maxSide = 1<<16 - 1
	// maxScans is far above the dozen scans of progressive files. Each goes over the
	// whole image, and a few bytes are enough for one.
	maxScans = 500
)

var errFormat = errors.New("neither a JPEG, a PNG nor a WebP file")

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

// decode reads the image that the content of a JPEG, PNG or WebP file holds into the memory of m.
// The first bytes decide which it is. own says that it is a user's, who sees [RGB.asShown].
//
// Else pixels are those of Image.convert("RGB") of the Python imaging library Pillow:
// grey becomes three equal channels, a palette its colours; alpha is dropped
// without blending; CMYK is taken for inverted, as Adobe's programs write it;
// subsampled chroma is interpolated and converted with the arithmetic of libjpeg and
// libwebp; EXIF's orientation and colour profiles have no effect. What differs: of 16
// bits a channel the upper 8 are kept, of grey too, which Pillow clips to white; chroma
// of CMYK files is not interpolated; a JPEG file without its end marker is truncated.
//
// A damaged or truncated file is an error, and so are an animation, a file of another
// format, one without pixels and one that asks for more than its size can mean or than
// fits in the memory: more than 67 million pixels, 65,535 pixels a side, 500 scans or,
// beyond 4 million pixels, 512 pixels a byte.
func (m *RGB) decode(data []byte, own bool) (found traits, err error) {
	var readHeader func(io.Reader) (image.Config, error)
	var readImage func(io.Reader) (image.Image, error)
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		readHeader, readImage = jpeg.DecodeConfig, jpeg.Decode
		if scans := bytes.Count(data, []byte("\xff\xda")); scans > maxScans {
			return 0, fmt.Errorf("%d scans, more than can be read", scans)
		}
		data = withAdobeMarker(data)
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		readHeader, readImage = png.DecodeConfig, png.Decode
	case isWebP(data):
		readHeader, readImage = webp.DecodeConfig, decodeWebP
		err = checkWebP(data)
	default:
		err = errFormat
	}
	if err != nil {
		return 0, err
	}
	header, err := readHeader(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	if header.Width < 1 || header.Height < 1 {
		return 0, fmt.Errorf("%d×%d pixels: there is none", header.Width, header.Height)
	}
	if pixels := header.Width * header.Height; max(header.Width, header.Height) > maxSide || pixels > maxPixels {
		return 0, fmt.Errorf("%d×%d pixels; scale it down to a side of %d and %d million pixels at most", header.Width, header.Height, maxSide, maxPixels/1_000_000)
	} else if pixels > freePixels+pixelsPerByte*len(data) {
		return 0, fmt.Errorf("%d×%d pixels in a file of %d bytes: damaged, or made to fill the memory", header.Width, header.Height, len(data))
	}
	decoded, err := readImage(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	m.reshape(header.Width, header.Height)
	m.convert(decoded)
	if own {
		found = m.asShown(data, decoded)
	}
	return found, nil
}

// withAdobeMarker returns a four-channel JPEG file without Adobe's marker, which
// image/jpeg refuses, with one that says CMYK; any other file as it is.
func withAdobeMarker(data []byte) []byte {
	for name, content := range chunks(data) {
		switch name {
		case "\xff\xee":
			if bytes.HasPrefix(content, []byte("Adobe")) {
				return data
			}
		case "\xff\xc0", "\xff\xc1", "\xff\xc2": // the frame's header
			const channels = 5
			if len(content) <= channels || content[channels] != 4 {
				return data
			}
			const cmyk = "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"
			return bytes.Join([][]byte{data[:2], []byte(cmyk), data[2:]}, nil)
		}
	}
	return data
}

// convert writes a decoded image of m's size to m.
func (m *RGB) convert(decoded image.Image) {
	switch from := decoded.(type) {
	case *image.YCbCr:
		m.convertYCbCr(from)
	case videoYCbCr:
		m.convertVideo(from.YCbCr)
	case *image.Gray:
		m.convertPixels(from.Pix, from.Stride, 1, grey)
	case *image.Gray16:
		m.convertPixels(from.Pix, from.Stride, 2, grey)
	case *image.RGBA:
		m.convertPixels(from.Pix, from.Stride, 4, colours)
	case *image.NRGBA:
		m.convertPixels(from.Pix, from.Stride, 4, colours)
	case *image.RGBA64:
		m.convertPixels(from.Pix, from.Stride, 8, wideColours)
	case *image.NRGBA64:
		m.convertPixels(from.Pix, from.Stride, 8, wideColours)
	case *image.Paletted:
		m.convertPixels(from.Pix, from.Stride, 1, coloursOf(from.Palette))
	case *image.CMYK:
		m.convertPixels(from.Pix, from.Stride, 4, inks)
	default:
		panic(fmt.Sprintf("images: a decoded image is a %T", decoded))
	}
}

// convertPixels converts each pixel, of so many bytes, to red, green and blue.
func (m *RGB) convertPixels(pix []byte, stride, size int, convert func(to, pixel []byte)) {
	for y := range m.Height {
		row := m.row(y)
		for x := range m.Width {
			convert(row[3*x:][:3], pix[y*stride+x*size:][:size])
		}
	}
}

// Of values of two bytes the upper one, which is kept, comes first.
func grey(to, pixel []byte)        { to[0], to[1], to[2] = pixel[0], pixel[0], pixel[0] }
func colours(to, pixel []byte)     { to[0], to[1], to[2] = pixel[0], pixel[1], pixel[2] }
func wideColours(to, pixel []byte) { to[0], to[1], to[2] = pixel[0], pixel[2], pixel[4] }

func coloursOf(palette color.Palette) func(to, pixel []byte) {
	var colours [256][3]byte
	for i, c := range palette {
		switch c := c.(type) {
		case color.RGBA:
			colours[i] = [3]byte{c.R, c.G, c.B}
		case color.NRGBA:
			colours[i] = [3]byte{c.R, c.G, c.B}
		default:
			panic(fmt.Sprintf("images: a decoded palette has a %T", c))
		}
	}
	return func(to, pixel []byte) { copy(to, colours[pixel[0]][:]) }
}

// inks takes cyan, magenta, yellow and black off white as Pillow does:
// (255 - k)(255 - c)/255, rounded.
func inks(to, pixel []byte) {
	white := 255 - int(pixel[3])
	for c := range 3 {
		product := int(pixel[c])*white + 128
		to[c] = byte(white - (product>>8+product)>>8)
	}
}

// grown returns a slice of n elements of any content, s where it is long enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
