package kernel

import "slices"

// Picture is bytes row by row, of the same number for each pixel. Row y starts at Pix[y*Stride].
type Picture struct {
	Pix           []byte
	Stride        int
	Width, Height int
}

// Resizer resizes pictures. Its memory is used again from call to call; its zero value is ready.
// It must not be used by two goroutines at once.
type Resizer struct {
	columns, rows kernel
	narrow        []byte  // the rows after the first pass
	sums          []int32 // of a row in the second one
}

// Resize writes src, of so many bytes a pixel, resized to the size of dst, to dst; the two must not
// overlap.
//
// Every output pixel is a weighted mean of the input around its centre. Where the
// image shrinks, the kernel widens with it, so that no pixel is passed over.
// Columns are resized first, then rows, with weights in fixed point of 22 bits and
// a rounding to bytes after each pass: Image.resize of the Python imaging library
// Pillow does just that, and the result is its, byte for byte. Compared with Pillow
// 9.4 on 600 random images of 1 to 399 pixels a side, both filters, up and down, and on all of USPS.
func (r *Resizer) Resize(dst, src Picture, channels int, filter Filter) {
	r.columns.set(src.Width, dst.Width, filter)
	r.rows.set(src.Height, dst.Height, filter)
	width := channels * dst.Width
	r.narrow = slices.Grow(r.narrow[:0], width*src.Height)[:width*src.Height]
	for y := range src.Height {
		from, to := src.Pix[y*src.Stride:], r.narrow[y*width:][:width]
		for x, window := range r.columns.windows {
			for c := range channels {
				to[x*channels+c] = mean(r.columns.weights[window.start:][:window.length], from[window.first*channels+c:], channels)
			}
		}
	}
	r.sums = slices.Grow(r.sums[:0], width)[:width]
	for y, window := range r.rows.windows {
		clear(r.sums)
		for i, weight := range r.rows.weights[window.start:][:window.length] {
			for x, v := range r.narrow[(window.first+i)*width:][:width] {
				r.sums[x] += weight * int32(v)
			}
		}
		for x, sum := range r.sums {
			dst.Pix[y*dst.Stride+x] = rounded(sum)
		}
	}
}

// mean is the weighted mean of bytes that lie so far apart.
func mean(weights []int32, from []byte, apart int) byte {
	sum := int32(0)
	for i, weight := range weights {
		sum += weight * int32(from[i*apart])
	}
	return rounded(sum)
}

// rounded is the byte nearest to a sum.
func rounded(sum int32) byte {
	return byte(min(max((sum+1<<(fractionBits-1))>>fractionBits, 0), 255))
}
