package images

import (
	"encoding/binary"

	"iwda/datasets/internal/kernel"
)

// Resampler resizes images. Its memory is used again from call to call; its zero
// value is ready. It must not be used by two goroutines at once.
type Resampler struct {
	columns, rows kernel.Kernel
	packed        []pixelPair
	narrow        []byte // the rows after the first pass
}

// Resize writes src, resized to the size of dst, to dst; the two must not overlap.
//
// Every output pixel is a weighted mean of the input around its centre. Where the
// image shrinks, the kernel widens with it, so that no pixel is passed over.
// Columns are resized first, then rows, with weights in fixed point of 22 bits and
// a rounding to bytes after each pass: Image.resize of the Python imaging library
// Pillow does just that, and the result is its, byte for byte. Compared with Pillow
// 9.4 on 600 random images of 1 to 399 pixels a side, both filters, up and down.
func (r *Resampler) Resize(dst, src *RGB, filter kernel.Filter) {
	r.columns.Set(src.Width, dst.Width, filter)
	r.rows.Set(src.Height, dst.Height, filter)
	r.resizeColumns(src, dst.Width)
	r.resizeRows(dst)
}

// pixelPair is a pixel each of two rows, a and b, their six values in the halves of
// three words: one multiplication weighs two values.
type pixelPair [3]uint64

const (
	fractionBits = kernel.FractionBits
	// overshoot is added to both halves of a sum to keep them positive; clipped
	// takes it off.
	overshoot = 256
	// start is what a sum of both halves starts with: one half, and overshoot.
	start = (overshoot<<fractionBits + 1<<(fractionBits-1)) * (1<<32 + 1)
	// lowHalves masks the byte 0 and 4 of a word, one in each half.
	lowHalves = 0x000000ff_000000ff
	// wordSize is the number of bytes that a pass over rows takes at once.
	wordSize = 8
)

// clipped is the byte of the upper 10 bits of half a sum.
var clipped = func() (table [1024]byte) {
	for i := range table {
		table[i] = byte(min(max(i-overshoot, 0), 255))
	}
	return table
}()

func lower(sum uint64) byte { return clipped[uint32(sum)>>fractionBits] }
func upper(sum uint64) byte { return clipped[sum>>(32+fractionBits)] }

// paddedRow is the distance of the rows between the passes.
func paddedRow(width int) int { return (3*width + wordSize - 1) / wordSize * wordSize }

// resizeColumns writes src, its rows resized to a width, to r.narrow.
func (r *Resampler) resizeColumns(src *RGB, width int) {
	stride := paddedRow(width)
	r.narrow = grown(r.narrow, stride*src.Height)
	r.packed = grown(r.packed, src.Width)
	for y := 0; y < src.Height; y += 2 {
		next := min(y+1, src.Height-1)
		pack(r.packed, src.row(y), src.row(next))
		rowPair(&r.columns, r.narrow[y*stride:][:3*width], r.narrow[next*stride:][:3*width], r.packed)
	}
}

func pack(dst []pixelPair, a, b []byte) {
	for x := range dst {
		p, q := a[3*x:][:3], b[3*x:][:3]
		dst[x] = pixelPair{
			uint64(p[0]) | uint64(p[1])<<32,
			uint64(p[2]) | uint64(q[2])<<32,
			uint64(q[0]) | uint64(q[1])<<32,
		}
	}
}

func rowPair(k *kernel.Kernel, a, b []byte, src []pixelPair) {
	for x, window := range k.Windows {
		weights := k.Weights[window.Start:][:window.Length]
		pixels := src[window.First:][:len(weights)]
		var sum0, sum1, sum2 uint64 = start, start, start
		for i, weight := range weights {
			pixel := &pixels[i]
			sum0 += weight * pixel[0]
			sum1 += weight * pixel[1]
			sum2 += weight * pixel[2]
		}
		p, q := a[3*x:][:3], b[3*x:][:3]
		p[0], p[1], p[2] = lower(sum0), upper(sum0), lower(sum1)
		q[0], q[1], q[2] = lower(sum2), upper(sum2), upper(sum1)
	}
}

// resizeRows writes r.narrow, its columns resized to the height of dst, to dst.
func (r *Resampler) resizeRows(dst *RGB) {
	stride := paddedRow(dst.Width)
	for y, window := range r.rows.Windows {
		weights := r.rows.Weights[window.Start:][:window.Length]
		out := dst.row(y)
		for x := 0; x < len(out); x += wordSize {
			word := weighWords(r.narrow[window.First*stride+x:], stride, weights)
			if len(out)-x < wordSize {
				var last [wordSize]byte
				binary.LittleEndian.PutUint64(last[:], word)
				copy(out[x:], last[:])
				break
			}
			binary.LittleEndian.PutUint64(out[x:], word)
		}
	}
}

// weighWords returns the weighted sum of words of bytes that lie stride apart.
func weighWords(src []byte, stride int, weights []uint64) uint64 {
	var sum0, sum1, sum2, sum3 uint64 = start, start, start, start
	at := 0
	for _, weight := range weights {
		word := binary.LittleEndian.Uint64(src[at:])
		at += stride
		sum0 += weight * (word & lowHalves)
		sum1 += weight * (word >> 8 & lowHalves)
		sum2 += weight * (word >> 16 & lowHalves)
		sum3 += weight * (word >> 24 & lowHalves)
	}
	return bytesOf(sum0) | bytesOf(sum1)<<8 | bytesOf(sum2)<<16 | bytesOf(sum3)<<24
}

// bytesOf returns the bytes of both halves of a sum, each at the lower end of its
// half.
func bytesOf(sum uint64) uint64 { return uint64(lower(sum)) | uint64(upper(sum))<<32 }

// grown returns a slice of n elements of any content, s where it is long enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
