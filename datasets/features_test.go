package datasets

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/table"
	"iwda/internal/testfiles"
)

func newFeatures(t testing.TB, values []float32, labels []int, classes ...string) *Features {
	t.Helper()
	set, err := NewFeatures("made", values, KnownLabels(labels), classes)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func npzOf(t testing.TB, set Set) []byte {
	t.Helper()
	var buffer bytes.Buffer
	if err := WriteFeatures(&buffer, set); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// written are the rows that package table reads of what is written of a set.
func written(t *testing.T, set Set) *table.Rows {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clip.npz")
	testfiles.Write(t, path, string(npzOf(t, set)))
	file, err := table.Open(path, table.Options{Kind: table.Features})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	rows, err := file.Load()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// What is written is read again by package table.
func TestWrittenFeatures(t *testing.T) {
	rows := written(t, newFeatures(t, []float32{1, 2, 3, 4, 5, 6}, []int{0, 2, 1}, "b", "a", "c"))
	row := make([]float32, 2)
	rows.CopyRow(row, 1)
	if class, known := rows.Label(1); !slices.Equal(row, []float32{3, 4}) || class != 2 || !known || rows.Len() != 3 || !slices.Equal(rows.ClassNames(), []string{"b", "a", "c"}) {
		t.Errorf("row %v, class %d of %q, %d rows", row, class, rows.ClassNames(), rows.Len())
	}
}

func TestFeaturesThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		values []float32
		labels []int
		want   string
	}{
		{[]float32{1, float32(math.NaN())}, []int{0}, "column 1"},
		{[]float32{1, 2}, []int{1}, "label 1"},
		{[]float32{1, 2, 3}, []int{0, 0}, "no rows"},
		{nil, nil, "no rows"},
	} {
		if _, err := NewFeatures("x", c.values, KnownLabels(c.labels), []string{"a"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
