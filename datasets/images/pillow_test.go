package images_test

import (
	"bytes"
	"strings"
	"testing"

	"iwda/datasets/images"
	"iwda/datasets/internal/kernel"
	"iwda/internal/testfiles"
)

// pillow is what Pillow made of some files and images; its pixels are RGB bytes.
type pillow struct {
	Resize []struct {
		Width, Height int
		Pixels        []byte
		ToWidth       int `json:"to_width"`
		ToHeight      int `json:"to_height"`
		Filter        string
		Want          []byte
	}
	Decode []struct {
		Name          string
		Width, Height int
		File, Want    []byte
	}
}

// readPillow reads pillow.json and, from formats.py, formats.json.
func readPillow(t testing.TB) (golden pillow) {
	t.Helper()
	for _, name := range []string{"testdata/pillow.json", "testdata/formats.json"} {
		var part pillow
		if testfiles.ReadJSON(t, name, &part); len(part.Decode) == 0 {
			t.Fatalf("%s has no cases", name)
		}
		golden.Resize = append(golden.Resize, part.Resize...)
		golden.Decode = append(golden.Decode, part.Decode...)
	}
	return golden
}

func TestResizeEqualsPillow(t *testing.T) {
	filters := map[string]kernel.Filter{"bilinear": kernel.Bilinear, "bicubic": kernel.Bicubic}
	var resizer kernel.Resizer // one for all cases: its memory must not show
	for _, c := range readPillow(t).Resize {
		src := &images.RGB{Pix: c.Pixels, Stride: 3 * c.Width, Width: c.Width, Height: c.Height}
		dst := blank(c.ToWidth, c.ToHeight)
		resizer.Resize(kernel.Picture(*dst), kernel.Picture(*src), 3, filters[c.Filter])
		if !bytes.Equal(dst.Pix, c.Want) {
			t.Errorf("%d×%d to %d×%d, %s: got %v, want %v", c.Width, c.Height, c.ToWidth, c.ToHeight, c.Filter, dst.Pix, c.Want)
		}
	}
}

func TestDecodeEqualsPillow(t *testing.T) {
	for _, c := range readPillow(t).Decode {
		m, err := images.Decode(c.File)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if m.Width != c.Width || m.Height != c.Height {
			t.Errorf("%s: %d×%d pixels, want %d×%d", c.Name, m.Width, m.Height, c.Width, c.Height)
			continue
		}
		// An inverse cosine transform may round one level up or down; 1.77 of it
		// reach blue, next to the luminance's own level.
		tolerance, mean := 0, 0.0
		switch {
		case strings.HasPrefix(c.Name, "jpeg cmyk"):
			tolerance, mean = 3, 0.3
		case strings.HasPrefix(c.Name, "jpeg"):
			tolerance, mean = 3, 0.1
		case strings.HasPrefix(c.Name, "webp lossy"): // without Pillow's interpolation of chroma
			tolerance, mean = 128, 20
		}
		total := 0
		for i, want := range c.Want {
			difference := int(m.Pix[i]) - int(want)
			difference = max(difference, -difference)
			total += difference
			if difference > tolerance {
				t.Errorf("%s: byte %d is %d, want %d within %d", c.Name, i, m.Pix[i], want, tolerance)
				break
			}
		}
		if got := float64(total) / float64(len(c.Want)); got > mean {
			t.Errorf("%s: mean difference %.3f, want at most %.3f", c.Name, got, mean)
		}
	}
}

func TestTruncatedFilesAreErrors(t *testing.T) {
	for _, c := range readPillow(t).Decode {
		for length := range len(c.File) - 1 {
			// The last bytes of a PNG file only say that it ends.
			if strings.HasPrefix(c.Name, "png") && length >= len(c.File)-12 {
				continue
			}
			if _, err := images.Decode(c.File[:length]); err == nil {
				t.Errorf("%s: no error for %d of %d bytes", c.Name, length, len(c.File))
				break
			}
		}
	}
}
