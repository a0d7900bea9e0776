package datasets

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"iwda/internal/allocation"
)

const twoDigits = "1 1:1\n10 256:-1\n"

// cachedFile reads a file of USPS with a cache and returns the only file that is then
// in there.
func cachedFile(t *testing.T, file, cache string) (path string, images *Images) {
	t.Helper()
	images, err := readUSPSCached(strings.NewReader(file), "usps", cache)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("files %q and error %v, want one file", paths, err)
	}
	return paths[0], images
}

func same(a, b *Images) bool {
	return Fingerprint(a) == Fingerprint(b) && a.Name() == b.Name() && slices.Equal(a.pixels, b.pixels)
}

// What is read a second time comes from the cache and is the same.
func TestUSPSCache(t *testing.T) {
	plain, err := ReadUSPS(strings.NewReader(twoDigits), "usps")
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(t.TempDir(), "new", "folder")
	path, first := cachedFile(t, twoDigits, cache)
	_, second := cachedFile(t, twoDigits, cache)
	if !same(first, plain) || !same(second, plain) {
		t.Error("other images with a cache than without")
	}
	other, err := ReadUSPS(strings.NewReader("4 7:0.5\n"), "usps")
	if err != nil {
		t.Fatal(err)
	}
	storeCached(path, other)
	if _, third := cachedFile(t, twoDigits, cache); !same(third, other) {
		t.Error("the images are not those in the cache")
	}
	changed, err := readUSPSCached(strings.NewReader("4 7:0.5\n"), "usps", cache)
	if err != nil || !same(changed, other) {
		t.Errorf("error %v, or the images of another file", err)
	}
}

// A file in the cache that is not what was written is written anew.
func TestUSPSCacheDamaged(t *testing.T) {
	summed := func(rows []byte) []byte {
		sum := sha256.Sum256(rows)
		return append(sum[:], rows...)
	}
	cache := t.TempDir()
	path, want := cachedFile(t, twoDigits, cache)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-1] ^= 1
	for name, content := range map[string][]byte{
		"empty":         {},
		"cut":           whole[:len(whole)-1],
		"flipped":       flipped,
		"longer":        append(bytes.Clone(whole), 0),
		"no rows":       summed(nil),
		"half a row":    summed(make([]byte, cachedRowSize*3/2)),
		"no such digit": summed(append([]byte{10}, make([]byte, cachedRowSize-1)...)),
		"too many":      summed(make([]byte, cachedRowSize*(maxUSPSDigits+1))),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, got := cachedFile(t, twoDigits, cache); !same(got, want) {
			t.Errorf("%s: other images", name)
		}
		if mended, err := os.ReadFile(path); err != nil || !bytes.Equal(mended, whole) {
			t.Errorf("%s: error %v, or the file stayed as it was", name, err)
		}
	}
}

// Where nothing can be kept, files are read as without a cache.
func TestUSPSCacheUnusable(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "file"), nil)
	inTheWay := filepath.Join(root, "taken")
	path, want := cachedFile(t, twoDigits, inTheWay)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{filepath.Join(root, "file"), filepath.Join(root, "file", "below"), inTheWay} {
		got, err := readUSPSCached(strings.NewReader(twoDigits), "usps", cache)
		if err != nil || !same(got, want) {
			t.Errorf("%s: error %v, or other images", cache, err)
		}
	}
	if left, err := os.ReadDir(inTheWay); err != nil || len(left) != 1 {
		t.Errorf("%v and error %v are left, want the folder that was there", left, err)
	}
}

// Errors are those of reading without a cache, each time, and leave nothing behind; nor
// does a file that is larger than any of USPS.
func TestUSPSCacheKeepsNothing(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		_, err := readUSPSCached(strings.NewReader(twoDigits+"11 1:1\n"), "usps.bz2", cache)
		if err == nil || err.Error() != `usps.bz2:3: label "11", want 1 to 10` {
			t.Errorf("error %v", err)
		}
	}
	line := "3 2:1" + strings.Repeat(" ", maxUSPSLine-1000) + "\n"
	lines := 2 + maxCachedSource/len(line)
	large, err := readUSPSCached(strings.NewReader(strings.Repeat(line, lines)), "usps", cache)
	if err != nil || large.Len() != lines {
		t.Errorf("error %v, or not all of %d lines", err, lines)
	}
	if _, err := os.Stat(cache); !os.IsNotExist(err) {
		t.Errorf("a cache is there, error %v", err)
	}
}

// Runs that start at once write the same file.
func TestUSPSCacheAtOnce(t *testing.T) {
	cache := t.TempDir()
	want, err := ReadUSPS(strings.NewReader(twoDigits), "usps")
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 10 {
				got, err := readUSPSCached(strings.NewReader(twoDigits), "usps", cache)
				if err != nil || !same(got, want) {
					t.Errorf("error %v, or other images", err)
				}
			}
		})
	}
	readers.Wait()
	cachedFile(t, twoDigits, cache)
}

// A file of the cache is images or nothing, with little allocated.
func FuzzParseCached(f *testing.F) {
	f.Add([]byte{}, true)
	f.Add(make([]byte, 2*cachedRowSize), true)
	f.Add(make([]byte, 2*cachedRowSize), false)
	f.Add(bytes.Repeat([]byte{9}, cachedRowSize), true)
	f.Add(bytes.Repeat([]byte{10}, cachedRowSize), true)
	f.Fuzz(func(t *testing.T, rows []byte, summed bool) {
		sum := sha256.Sum256(rows)
		if !summed {
			sum[0]++
		}
		var images *Images
		allocation.Within(t, len(rows), func() { images = parseCached(append(sum[:], rows...), "fuzz") })
		if images == nil {
			return
		}
		if !summed || images.Len() == 0 || images.Len()*cachedRowSize != len(rows) {
			t.Fatalf("%d images of %d bytes", images.Len(), len(rows))
		}
		for i := range images.Len() {
			if label, known := images.Label(i); !known || label < 0 || label > 9 {
				t.Errorf("row %d has label %d", i, label)
			}
		}
	})
}
