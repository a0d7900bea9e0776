package images

import "image"

// convertYCbCr interpolates subsampled chroma and converts to RGB, both as libjpeg
// does by default ("fancy upsampling"): half-resolution samples lie between two
// full-resolution ones, each of which takes 3/4 of the nearer sample and 1/4 of the
// farther one; rarer subsampling repeats samples.
func (m *RGB) convertYCbCr(from *image.YCbCr) {
	blue, red := make([]byte, m.Width+1), make([]byte, m.Width+1)
	sums := make([]int32, (m.Width+1)/2)
	for y := range m.Height {
		luma := from.Y[y*from.YStride:][:m.Width]
		upsampleRow(blue, sums, from.Cb, from, y)
		upsampleRow(red, sums, from.Cr, from, y)
		convertRow(m.row(y), luma, blue[:m.Width], red[:m.Width])
	}
}

// upsampleRow writes the chroma of the image's row y to dst, which has room for a
// value more than the row. sums is scratch memory of half the row, rounded up.
func upsampleRow(dst []byte, sums []int32, plane []byte, from *image.YCbCr, y int) {
	width, height := from.Rect.Dx(), from.Rect.Dy()
	half := (width + 1) / 2
	switch ratio := from.SubsampleRatio; {
	case ratio == image.YCbCrSubsampleRatio444:
		copy(dst, plane[y*from.CStride:][:width])
	case ratio == image.YCbCrSubsampleRatio422 && half > 2:
		widen(dst, plane[y*from.CStride:][:half])
	case ratio == image.YCbCrSubsampleRatio420 && half > 2:
		near, far := neighbours(y, (height+1)/2)
		above, below := plane[near*from.CStride:][:half], plane[far*from.CStride:][:half]
		for x := range sums {
			sums[x] = 3*int32(above[x]) + int32(below[x])
		}
		widenSums(dst, sums)
	case ratio == image.YCbCrSubsampleRatio440:
		near, far := neighbours(y, (height+1)/2)
		above, below := plane[near*from.CStride:][:width], plane[far*from.CStride:][:width]
		rounding := int32(1 + y%2)
		for x := range width {
			dst[x] = byte((3*int32(above[x]) + int32(below[x]) + rounding) >> 2)
		}
	default:
		for x := range width {
			dst[x] = plane[from.COffset(x, y)]
		}
	}
}

// neighbours returns the rows of half resolution that are nearest to row y of full
// resolution, nearer one first, of the given number of rows.
func neighbours(y, rows int) (near, far int) {
	near = y / 2
	if y%2 == 0 {
		return near, max(near-1, 0)
	}
	return near, min(near+1, rows-1)
}

// widen doubles a row of at least two samples. The rounding alternates, so that it
// does not add up.
func widen(dst, src []byte) {
	last := len(src) - 1
	for i, sample := range src {
		left, right := src[max(i-1, 0)], src[min(i+1, last)]
		dst[2*i] = byte((3*int32(sample) + int32(left) + 1) >> 2)
		dst[2*i+1] = byte((3*int32(sample) + int32(right) + 2) >> 2)
	}
}

// widenSums doubles a row of sums of weight 4.
func widenSums(dst []byte, sums []int32) {
	left, sum := sums[0], sums[0]
	for _, right := range sums[1:] {
		dst[0] = byte((3*sum + left + 8) >> 4)
		dst[1] = byte((3*sum + right + 7) >> 4)
		dst = dst[2:]
		left, sum = sum, right
	}
	dst[0] = byte((3*sum + left + 8) >> 4)
	dst[1] = byte((4*sum + 7) >> 4)
}

// convertRow converts a row of JPEG's YCbCr to RGB, with libjpeg's coefficients in units of 2^-16 and its rounding.
func convertRow(dst, luma, blue, red []byte) {
	const half = 1 << 15
	for x, l := range luma {
		y, cb, cr := int32(l), int32(blue[x])-128, int32(red[x])-128
		pixel := dst[3*x:][:3]
		pixel[0] = clip8(y + (91881*cr+half)>>16)          // 1.40200
		pixel[1] = clip8(y + (half-22554*cb-46802*cr)>>16) // 0.34414, 0.71414
		pixel[2] = clip8(y + (116130*cb+half)>>16)         // 1.77200
	}
}

func clip8(v int32) byte { return byte(min(max(v, 0), 255)) }
