package images_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"testing"

	"iwda/datasets/images"
	"iwda/datasets/internal/kernel"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// write puts a file, and the folders above it, below root.
func write(t testing.TB, root, path string, content []byte) {
	t.Helper()
	testfiles.Write(t, filepath.Join(root, filepath.FromSlash(path)), string(content))
}

// shaded is an image of one shade of red and green, and a gradient of blue.
func shaded(width, height int, shade uint8) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetRGBA(x, y, color.RGBA{shade, 255 - shade, uint8(4*x + 3*y), 255})
		}
	}
	return m
}

// blank is a black image.
func blank(width, height int) *images.RGB {
	return &images.RGB{Pix: make([]byte, 3*width*height), Stride: 3 * width, Width: width, Height: height}
}

// resize writes src, resized to the size of dst, to dst.
func resize(dst, src *images.RGB, filter kernel.Filter) {
	new(kernel.Resizer).Resize(kernel.Picture(*dst), kernel.Picture(*src), 3, filter)
}

func jpegFile(t testing.TB, m image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	must.Do(t, jpeg.Encode(&file, m, nil))
	return file.Bytes()
}

func pngFile(t testing.TB, m image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	must.Do(t, png.Encode(&file, m))
	return file.Bytes()
}

// makeSet writes n JPEG images of different shades and sizes into two classes and
// opens them.
func makeSet(t testing.TB, n int) *images.Set {
	t.Helper()
	root := t.TempDir()
	for i := range n {
		write(t, root, fmt.Sprintf("domain/%s/%03d.jpg", []string{"cat", "dog"}[i%2], i), jpegFile(t, shaded(20+i, 30, uint8(7*i))))
	}
	set := tree(t, root, "domain", []string{"cat", "dog"}[:min(n, 2)]...)
	return set
}

func newReader(t testing.TB, set *images.Set, options images.ReaderOptions) *images.Reader {
	t.Helper()
	reader := must.Have(images.NewReader(set, options))(t)
	t.Cleanup(func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	return reader
}

// classOf is the class of an image, -1 where it is unknown.
func classOf(set *images.Set, i int) int {
	if class, known := set.Labels().At(i); known {
		return class
	}
	return -1
}

// openTree opens a folder of the root that has a folder for each class.
func openTree(root, folder string, classes ...string) (*images.Set, error) {
	return images.OpenPublished("test-domain", root, []string{folder}, classes)
}

func tree(t testing.TB, root, folder string, classes ...string) *images.Set {
	t.Helper()
	return must.Have(openTree(root, folder, classes...))(t)
}
