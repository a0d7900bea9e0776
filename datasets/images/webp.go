package images

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"

	"golang.org/x/image/webp"
)

// isWebP tells the first bytes of a WebP file.
func isWebP(data []byte) bool {
	const header = 12
	return len(data) >= header && bytes.HasPrefix(data, []byte("RIFF")) && string(data[8:header]) == "WEBP"
}

// checkWebP refuses a WebP file that is shorter than it says, of which the decoder
// believes the lengths, and an animation.
func checkWebP(data []byte) error {
	const header, flagsAt = 8, 20
	if size := binary.LittleEndian.Uint32(data[4:]); int64(size) > int64(len(data)-header) {
		return io.ErrUnexpectedEOF
	}
	const animated = 1 << 1
	if len(data) > flagsAt && string(data[12:16]) == "VP8X" && data[flagsAt]&animated != 0 {
		return errors.New("an animation; want one image")
	}
	return nil
}

// decodeWebP is [webp.Decode] with the type of lossy images that says how they are
// coded.
func decodeWebP(r io.Reader) (image.Image, error) {
	m, err := webp.Decode(r)
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *image.YCbCr:
		return videoYCbCr{YCbCr: m}, nil
	case *image.NYCbCrA:
		return videoYCbCr{&m.YCbCr, m.A, m.AStride}, nil
	}
	return m, nil
}

// videoYCbCr is an image in the YCbCr of video, whose luma goes from 16 to 235 and
// chroma from 16 to 240 (ITU-R BT.601), in contrast to JPEG's. Each chroma sample is
// for 2×2 pixels. alpha is nil if all are opaque.
type videoYCbCr struct {
	*image.YCbCr
	alpha       []byte
	alphaStride int
}

// convertVideo interpolates chroma and converts to RGB, both as libwebp does by
// default: a pixel takes 9/16 of the nearest sample, 3/16 of each of its neighbours in
// the pixel's row and column, and 1/16 of the one across.
func (m *RGB) convertVideo(from *image.YCbCr) {
	blue, red := make([]byte, m.Width+1), make([]byte, m.Width+1)
	half, halfHeight := (m.Width+1)/2, (m.Height+1)/2
	for y := range m.Height {
		near, far := neighbours(y, halfHeight)
		near, far = near*from.CStride, far*from.CStride
		widenPair(blue, from.Cb[near:][:half], from.Cb[far:][:half])
		widenPair(red, from.Cr[near:][:half], from.Cr[far:][:half])
		convertVideoRow(m.row(y), from.Y[y*from.YStride:][:m.Width], blue, red)
	}
}

// widenPair writes two values to dst for every column of the near and the far row of
// chroma.
func widenPair(dst, near, far []byte) {
	last := len(near) - 1
	for i := range near {
		dst[2*i] = between(near, far, i, max(i-1, 0))
		dst[2*i+1] = between(near, far, i, min(i+1, last))
	}
}

// between interpolates at a pixel whose nearest sample is near[i] and whose second
// nearest column is other. At the left and the right end the two are the same. Sums
// are rounded where libwebp rounds them.
func between(near, far []byte, i, other int) byte {
	nearest, across := int(near[i]), int(far[other])
	if i == other {
		return byte((3*nearest + across + 2) >> 2)
	}
	sides := int(near[other]) + int(far[i])
	return byte(((nearest+3*sides+across+8)>>3 + nearest) >> 1)
}

// convertVideoRow converts a row with libwebp's coefficients, in units of 2^-14, of
// which the sums keep 6 bits.
func convertVideoRow(dst, luma, blue, red []byte) {
	for x, l := range luma {
		y, cb, cr := 19077*int32(l)>>8, int32(blue[x]), int32(red[x]) // 1.164
		pixel := dst[3*x:][:3]
		pixel[0] = clip8((y + 26149*cr>>8 - 14234) >> 6)             // 1.596
		pixel[1] = clip8((y - 6419*cb>>8 - 13320*cr>>8 + 8708) >> 6) // 0.392, 0.813
		pixel[2] = clip8((y + 33050*cb>>8 - 17685) >> 6)             // 2.017
	}
}
