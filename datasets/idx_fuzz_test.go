package datasets_test

import (
	"bytes"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/internal/allocation"
	"iwda/internal/testfiles"
)

// readingLimit is what reading a file may allocate: a few times its size, and of a
// compressed one a few times what it may hold.
func readingLimit(file []byte) int {
	if bytes.HasPrefix(file, []byte("\x1f\x8b")) || bytes.HasPrefix(file, []byte("BZh")) {
		return 1<<28 + 2000*len(file)
	}
	return 4<<20 + 20*len(file)
}

func FuzzReadIDXImages(f *testing.F) {
	whole := idxImages(2, 3, 4)
	f.Add(whole)
	f.Add(testfiles.Gzip(f, whole))
	f.Add(whole[:20])
	f.Add(idx(0x803, []uint32{1 << 31, 28, 28}, make([]byte, 84)))
	f.Add(idxLabels(1, 2, 3))
	f.Fuzz(func(t *testing.T, file []byte) {
		var images datasets.IDXImages
		var err error
		allocation.Within(t, readingLimit(file), func() {
			images, err = datasets.ReadIDXImages(bytes.NewReader(file), "fuzz")
		})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz: ") {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		if len(images.Pixels) != images.Count*images.Rows*images.Columns {
			t.Errorf("%d pixels for %d images of %d×%d", len(images.Pixels), images.Count, images.Rows, images.Columns)
		}
		// What was accepted, written again, reads the same.
		again := idx(0x803, []uint32{uint32(images.Count), uint32(images.Rows), uint32(images.Columns)}, images.Pixels)
		second, err := datasets.ReadIDXImages(bytes.NewReader(again), "again")
		if err != nil || !bytes.Equal(second.Pixels, images.Pixels) {
			t.Errorf("the same content written again: error %v", err)
		}
	})
}

func FuzzReadIDXLabels(f *testing.F) {
	f.Add(idxLabels(1, 2, 3))
	f.Add(testfiles.Gzip(f, idxLabels(0, 9)))
	f.Add(idxLabels(10))
	f.Fuzz(func(t *testing.T, file []byte) {
		var labels []int
		var err error
		allocation.Within(t, readingLimit(file), func() {
			labels, err = datasets.ReadIDXLabels(bytes.NewReader(file), "fuzz", 10)
		})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz: ") {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		for i, label := range labels {
			if label < 0 || label > 9 {
				t.Errorf("label %d of item %d", label, i)
			}
		}
	})
}
