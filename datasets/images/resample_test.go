package images_test

import (
	"testing"

	"iwda/datasets/images"
	"iwda/datasets/internal/kernel"
)

// greyRow is an image of one row.
func greyRow(values ...byte) *images.RGB {
	m := blank(len(values), 1)
	for x, v := range values {
		m.Pix[3*x], m.Pix[3*x+1], m.Pix[3*x+2] = v, v, v
	}
	return m
}

func TestResizeByHand(t *testing.T) {
	tests := []struct {
		name   string
		filter kernel.Filter
		from   []byte
		want   []byte
	}{
		// Halving bilinearly takes 1/8, 3/8, 3/8, 1/8 of four pixels; at an edge the
		// three inside ones share the weight 7/8.
		{"halved", kernel.Bilinear, []byte{0, 80, 160, 240, 240, 240}, []byte{57, 190, 240}},
		// Doubling lays outputs at 1/4 and 3/4 between centres.
		{"doubled", kernel.Bilinear, []byte{0, 100}, []byte{0, 25, 75, 100}},
		// The cubic at distances 3/4, 1/4 | 1/4, 3/4 of an edge overshoots it.
		{"overshoot", kernel.Bicubic, []byte{50, 50, 50, 150, 150, 150}, []byte{50, 50, 50, 48, 43, 70, 130, 157, 152, 150, 150, 150}},
		// Overshoot is clipped.
		{"clipped", kernel.Bicubic, []byte{0, 0, 0, 255, 255, 255}, []byte{0, 0, 0, 0, 0, 52, 203, 255, 255, 255, 255, 255}},
		{"same size", kernel.Bicubic, []byte{3, 200, 7, 99}, []byte{3, 200, 7, 99}},
	}
	for _, test := range tests {
		dst := blank(len(test.want), 1)
		new(images.Resampler).Resize(dst, greyRow(test.from...), test.filter)
		for x, want := range test.want {
			for c := range 3 {
				if got := dst.Pix[3*x+c]; got != want {
					t.Errorf("%s: channel %d of pixel %d is %d, want %d", test.name, c, x, got, want)
				}
			}
		}
	}
}

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
	new(images.Resampler).Resize(dst, whole.Crop(2, 3, 4, 3), kernel.Bilinear)
	for y := range 3 {
		for x := range 4 {
			got := [3]byte(dst.Pix[y*dst.Stride+3*x:])
			if want := [3]byte{byte(20 * (x + 2)), byte(30 * (y + 3)), 0}; got != want {
				t.Errorf("pixel (%d, %d) is %v, want %v", x, y, got, want)
			}
		}
	}
}
