package images

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"
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

// convertVideo converts the YCbCr of video, as lossy WebP files have it, whose luma goes from 16 to 235 and chroma from
// 16 to 240 (ITU-R BT.601), in contrast to JPEG's. Coefficients are those of libwebp, in units of 2^-14, of which the sums
// keep 6 bits.
func (m *RGB) convertVideo(from *image.YCbCr) {
	for line := range m.Height {
		row := m.row(line)
		for x := range m.Width {
			at := from.COffset(x, line)
			y, cb, cr := 19077*int32(from.Y[from.YOffset(x, line)])>>8, int32(from.Cb[at]), int32(from.Cr[at]) // 1.164
			row[3*x] = clip8((y + 26149*cr>>8 - 14234) >> 6)                                                   // 1.596
			row[3*x+1] = clip8((y - 6419*cb>>8 - 13320*cr>>8 + 8708) >> 6)                                     // 0.392, 0.813
			row[3*x+2] = clip8((y + 33050*cb>>8 - 17685) >> 6)                                                 // 2.017
		}
	}
}
