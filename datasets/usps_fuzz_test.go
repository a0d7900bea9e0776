package datasets_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/internal/allocation"
	"iwda/internal/testfiles"
)

func FuzzReadUSPS(f *testing.F) {
	f.Add([]byte(uspsLine(1, func(i int) float64 { return math.Sin(float64(i)) })))
	f.Add([]byte("1 1:1\n10 256:-1\n"))
	f.Add([]byte("1 2:1 1:1\n"))
	f.Add([]byte("11 1:1\n\n"))
	f.Add(bzip2OfTwoDigits(f))
	f.Add(testfiles.Gzip(f, []byte("1 1:1\n10 256:-1\n")))
	f.Fuzz(func(t *testing.T, file []byte) {
		// Each line is an image of 784 bytes, however short it is; slices grow by copying.
		limit := min(3000*len(file)+readingLimit(file)+1<<28, allocation.Allowed(len(file))+readingLimit(file))
		var set *datasets.Images
		var err error
		allocation.Within(t, limit, func() {
			set, err = datasets.ReadUSPS(bytes.NewReader(file), "fuzz")
		})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		if set.Len() == 0 {
			t.Error("an empty set")
		}
		for i := range set.Len() {
			if label := classOf(set, i); label < 0 || label > 9 || len(set.Pixels(i)) != 784 {
				t.Errorf("row %d: label %d, %d pixels", i, label, len(set.Pixels(i)))
			}
		}
	})
}
