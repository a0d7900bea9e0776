package images_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

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

// kinds are the readers of a set that must all read the same.
func kinds(t *testing.T) map[string]images.ReaderOptions {
	return map[string]images.ReaderOptions{
		"none":   {Side: 16},
		"memory": {Side: 16, Cache: images.MemoryCache},
		"file":   {Side: 16, Cache: images.FileCache, Folder: filepath.Join(t.TempDir(), "made", "here")},
	}
}

// overwrite puts something that is no image into a file and leaves its size and
// time of change as they are, so that only a cache can still have the image.
func overwrite(t *testing.T, path string) {
	t.Helper()
	info := must.Have(os.Stat(path))(t)
	testfiles.Write(t, path, string(make([]byte, info.Size())))
	must.Do(t, os.Chtimes(path, time.Time{}, info.ModTime()))
}

func TestCachesAvoidTheFiles(t *testing.T) {
	for name, options := range kinds(t) {
		set := makeSet(t, 3)
		reader := newReader(t, set, options)
		want, size := read(t, reader, 1), int64(3*16*16*3)
		if name == "none" {
			size = 0
		}
		if got := reader.CacheBytes(); got != size {
			t.Errorf("%s: a cache of %d bytes, want %d", name, got, size)
		}
		overwrite(t, set.Path(1))
		got := make([]byte, len(want))
		err := reader.Read(got, 1)
		if name == "none" {
			if err == nil {
				t.Error("no error without a cache")
			}
			continue
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the cached image is not read: %v", name, err)
		}
		// Closed, the cache is gone.
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
		if err := reader.Read(got, 1); err == nil {
			t.Errorf("%s: a closed cache has images", name)
		}
	}
}

func TestChangedFilesAreReadAgain(t *testing.T) {
	set := makeSet(t, 3)
	options := images.ReaderOptions{Side: 16, Cache: images.FileCache, Folder: t.TempDir()}
	reader := newReader(t, set, options)
	old := read(t, reader, 0)
	kept := read(t, reader, 1)
	testfiles.Write(t, set.Path(0), string(pngFile(t, shaded(16, 16, 255))))
	overwrite(t, set.Path(1))

	again := newReader(t, set, options)
	want := read(t, newReader(t, set, images.ReaderOptions{Side: 16}), 0)
	if got := read(t, again, 0); bytes.Equal(got, old) || !bytes.Equal(got, want) {
		t.Error("the image of the changed file is not read")
	}
	if got := read(t, again, 1); !bytes.Equal(got, kept) {
		t.Error("the image of the unchanged file is not kept")
	}
	other := options // another size of image has another file
	other.Side = 8
	if err := newReader(t, set, other).Read(make([]byte, 3*8*8), 1); err == nil {
		t.Error("images of another size were found")
	}

	// The same size, another time of change.
	info := must.Have(os.Stat(set.Path(0)))(t)
	overwrite(t, set.Path(0))
	must.Do(t, os.Chtimes(set.Path(0), time.Time{}, info.ModTime().Add(time.Second)))
	if err := newReader(t, set, options).Read(make([]byte, 3*16*16), 0); err == nil {
		t.Error("a later time of change is not noticed")
	}
}

func TestCacheErrors(t *testing.T) {
	set := makeSet(t, 3)
	inTheWay := filepath.Join(t.TempDir(), "file")
	testfiles.Write(t, inTheWay, "")
	must.Refuse(images.NewReader(set, images.ReaderOptions{Side: 256, Cache: images.FileCache, Folder: inTheWay}))(t, inTheWay)
	testfiles.Remove(t, set.Path(1))
	_, err := images.NewReader(set, images.ReaderOptions{Side: 256, Cache: images.MemoryCache})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), set.Path(1)) {
		t.Errorf("%v, want an error that %s does not exist", err, set.Path(1))
	}
	must.Refuse(images.NewReader(makeSet(t, 1), images.ReaderOptions{Side: 16, Cache: "tape"}))(t, "none, memory, disk")
	if _, err := images.NewReader(set, images.ReaderOptions{Side: -1}); err == nil {
		t.Error("no error for a negative side")
	}
}

func TestCacheIsSharedBySeveralReaders(t *testing.T) {
	set := makeSet(t, 6)
	plain := newReader(t, set, images.ReaderOptions{Side: 16})
	options := images.ReaderOptions{Side: 16, Cache: images.FileCache, Folder: t.TempDir()}
	// The first two are opened at the same time, as two processes would.
	var readers [2]*images.Reader
	var opening, reading sync.WaitGroup
	for r := range readers {
		opening.Go(func() {
			var err error
			if readers[r], err = images.NewReader(set, options); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	for _, reader := range readers {
		for worker := range 3 {
			reading.Go(func() {
				got, want := make([]byte, 3*16*16), make([]byte, 3*16*16)
				for n := range 4 * set.Len() {
					i := (n*(worker+1) + worker) % set.Len()
					if err := errors.Join(reader.Read(got, i), plain.Read(want, i)); err != nil || !bytes.Equal(got, want) {
						t.Errorf("image %d: %v", i, err)
					}
				}
			})
		}
	}
	reading.Wait()
	for _, reader := range readers {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
}
