package kernel

import (
	"hash/crc32"
	"slices"
	"testing"
)

// resized is a grey square of a side, resized to another one.
func resized(src []byte, from, to int) []byte {
	dst := make([]byte, to*to)
	new(Resizer).Resize(Picture{dst, to, to, to}, Picture{src, from, from, from}, 1, Bilinear)
	return dst
}

// TestUpscaleByHand enlarges 2×2 to 4×4: the positions are -0.25, 0.25, 0.75 and
// 1.25 input pixels, the outer two outside the centres.
func TestUpscaleByHand(t *testing.T) {
	got := resized([]byte{0, 100, 200, 40}, 2, 4)
	want := []byte{
		0, 25, 75, 100,
		50, 59, 76, 85, // (3·row 0 + row 3)/4: 58.75, 76.25
		150, 126, 79, 55, // (row 0 + 3·row 3)/4: 126.25, 78.75
		200, 160, 80, 40,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestUpscaleAsPillow compares with what Pillow 9.4 computed.
func TestUpscaleAsPillow(t *testing.T) {
	src := make([]byte, 16*16)
	for y := range 16 {
		for x := range 16 {
			src[16*y+x] = byte(37*y + 101*x + x*y%7*29)
		}
	}
	got := resized(src, 16, 28)
	first := []byte{0, 36, 94, 152, 191, 102, 69, 126, 184, 242, 172, 101, 159, 162,
		73, 76, 134, 192, 231, 142, 109, 166, 133, 44, 84, 141, 199, 235}
	if !slices.Equal(got[:28], first) {
		t.Errorf("first row %v, want %v", got[:28], first)
	}
	middle := []byte{11, 49, 111, 145, 164, 110, 88, 117, 167, 229, 162, 96, 164, 174,
		89, 95, 157, 191, 210, 156, 134, 164, 142, 88, 114, 148, 179, 197}
	if row := got[13*28 : 14*28]; !slices.Equal(row, middle) {
		t.Errorf("row 13 is %v, want %v", row, middle)
	}
	if sum := crc32.ChecksumIEEE(got); sum != 0x3744f2e1 {
		t.Errorf("CRC-32 of the image %#x, want 0x3744f2e1", sum)
	}
}

func TestUpscaleKeepsSizeAndTranspose(t *testing.T) {
	src := make([]byte, 16*16)
	turned := make([]byte, 16*16)
	for i := range src {
		src[i] = byte(7 * i * i)
		turned[i%16*16+i/16] = src[i]
	}
	if !slices.Equal(resized(src, 16, 16), src) {
		t.Error("an image enlarged to its own size changed")
	}
	// Rounding after each pass makes the two differ by one at most.
	a, b := resized(src, 16, 28), resized(turned, 16, 28)
	for y := range 28 {
		for x := range 28 {
			if d := int(a[28*y+x]) - int(b[28*x+y]); d < -1 || d > 1 {
				t.Fatalf("pixel (%d, %d) differs by %d from the transposed image's", y, x, d)
			}
		}
	}
}
