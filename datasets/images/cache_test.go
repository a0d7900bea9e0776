package images_test

import (
	"bytes"
	"testing"

	"iwda/datasets/images"
	"iwda/datasets/internal/kernel"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// read returns image i.
func read(t *testing.T, reader *images.Reader, i int) []byte {
	t.Helper()
	pixels := make([]byte, 3*reader.Side()*reader.Side())
	must.Do(t, reader.Read(pixels, i))
	return pixels
}

func TestReadIsDecodeAndResize(t *testing.T) {
	set := makeSet(t, 4)
	reader := newReader(t, set, images.ReaderOptions{Side: 16})
	content := testfiles.Read(t, set.Path(3))
	decoded := must.Have(images.Decode(content))(t)
	want := blank(16, 16)
	resize(want, decoded, kernel.Bicubic)
	if !bytes.Equal(read(t, reader, 3), want.Pix) {
		t.Error("the image differs from the decoded and resized file")
	}
}

// Images that are kept are not decoded again, until the reader is closed.
func TestReaderKeepsImages(t *testing.T) {
	for _, keep := range []bool{true, false} {
		set := makeSet(t, 3)
		reader := newReader(t, set, images.ReaderOptions{Side: 16, Keep: keep})
		want := read(t, reader, 1)
		testfiles.Write(t, set.Path(1), "no image")
		got := make([]byte, len(want))
		if err := reader.Read(got, 1); (err == nil) != keep || keep && !bytes.Equal(got, want) {
			t.Errorf("kept: %v, error %v", keep, err)
		}
		must.Do(t, reader.Close())
		must.Fail(t, reader.Read(got, 1), "neither a JPEG")
	}
	must.Refuse(images.NewReader(makeSet(t, 1), images.ReaderOptions{Side: -1}))(t, "side of -1 pixels")
}

// No more is kept than there is room for.
func TestReaderKeepsSomeImages(t *testing.T) {
	const side = 8192 // 192 MiB
	set := makeSet(t, 2)
	reader := newReader(t, set, images.ReaderOptions{Side: side, Keep: true})
	pixels := make([]byte, 3*side*side)
	for i := range set.Len() {
		must.Do(t, reader.Read(pixels, i))
		testfiles.Write(t, set.Path(i), "no image")
	}
	must.Do(t, reader.Read(pixels, 0))
	must.Fail(t, reader.Read(pixels, 1), "neither a JPEG")
}
