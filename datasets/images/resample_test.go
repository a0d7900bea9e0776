package images_test

import (
	"testing"

	"iwda/datasets/internal/kernel"
)

func TestResizeOfACrop(t *testing.T) {
	// What lies outside the crop must not be looked at, channels and axes must not
	// mix: red rises to the right, green downwards, blue is only set outside.
	whole := blank(8, 8)
	for y := range 8 {
		for x := range 8 {
			pixel := whole.Pix[y*whole.Stride+3*x:]
			pixel[0], pixel[1], pixel[2] = byte(20*x), byte(30*y), 255
			if x >= 2 && x < 6 && y >= 3 && y < 6 {
				pixel[2] = 0
			}
		}
	}
	dst := blank(4, 3)
	resize(dst, whole.Crop(2, 3, 4, 3), kernel.Bilinear)
	for y := range 3 {
		for x := range 4 {
			got := [3]byte(dst.Pix[y*dst.Stride+3*x:])
			if want := [3]byte{byte(20 * (x + 2)), byte(30 * (y + 3)), 0}; got != want {
				t.Errorf("pixel (%d, %d) is %v, want %v", x, y, got, want)
			}
		}
	}
}
