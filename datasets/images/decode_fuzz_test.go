package images_test

import (
	"bytes"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"testing"
	"time"

	"iwda/datasets/images"
	"iwda/datasets/internal/kernel"
	"iwda/internal/allocation"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// A file of any content is an image or an error, decoded and resized in memory that its
// size allows: a pixel takes up to 12 bytes as coefficients, 8 decoded and 3 as RGB.
func FuzzDecode(f *testing.F) {
	small := shaded(9, 5, 100)
	grey := image.NewGray(image.Rect(0, 0, 8, 8))
	paletted := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.RGBA{1, 2, 3, 255}})
	for _, m := range []image.Image{small, grey} {
		f.Add(jpegFile(f, m))
	}
	for _, m := range []image.Image{small, grey, paletted, image.NewNRGBA64(image.Rect(0, 0, 2, 2))} {
		f.Add(pngFile(f, m))
	}
	for _, c := range readPillow(f).Decode {
		f.Add(c.File)
	}
	for _, c := range readShown(f) {
		f.Add(c.File)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		const bytesPerPixel = 24
		limit := bytesPerPixel * (1<<22 + 512*len(file))
		allocation.Within(t, 1<<25+limit, func() {
			m, err := images.DecodeOwn(file)
			if err != nil {
				return
			}
			if len(m.Pix) != 3*m.Width*m.Height {
				t.Errorf("%d bytes for %d×%d pixels", len(m.Pix), m.Width, m.Height)
			}
			resize(blank(16, 16), m, kernel.Bicubic)
		})
	})
}

// Whatever a cache file holds, the images that are read are those of the image files.
func FuzzFileCache(f *testing.F) {
	set := makeSet(f, 2)
	for i := range set.Len() { // so that a file fits the set in every process
		must.Do(f, os.Chtimes(set.Path(i), time.Time{}, time.Unix(1e9, 0)))
	}
	folder := f.TempDir()
	options := images.ReaderOptions{Side: 8, Cache: images.FileCache, Folder: folder}
	var want [2][]byte
	reader := newReader(f, set, options)
	for i := range want {
		want[i] = make([]byte, 3*8*8)
		must.Do(f, reader.Read(want[i], i))
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		f.Fatalf("files %q, %v, want one", files, err)
	}
	whole := testfiles.Read(f, files[0])
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-100] ^= 1 // of the last image
	f.Add(flipped)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		testfiles.Write(t, files[0], string(content))
		reader := newReader(t, set, options)
		got := make([]byte, 3*8*8)
		for i := range want {
			if err := reader.Read(got, i); err != nil || !bytes.Equal(got, want[i]) {
				t.Errorf("image %d of a damaged cache: %v, error %v", i, got, err)
			}
		}
	})
}
