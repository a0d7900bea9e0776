package datasets_test

import (
	"slices"
	"testing"

	"iwda/datasets"
)

// Whatever could change a result changes the fingerprint; the way in which the same
// rows are held does not.
func TestFingerprint(t *testing.T) {
	images := func(pixels []byte, labels []int, names ...string) datasets.Set {
		set, err := datasets.NewImages("test", []int{1, 1, 2}, names, pixels, labels)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	features := func(values []float32, labels []int) datasets.Set {
		set, err := datasets.NewFeatures("test", values, labels, []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	base := images([]byte{1, 2, 3, 4, 5, 6}, []int{0, 1, 0}, "a", "b")
	prints := []string{datasets.Fingerprint(base)}
	for _, other := range [][]datasets.Set{
		{images([]byte{1, 2, 3, 4, 5, 7}, []int{0, 1, 0}, "a", "b")},
		{images([]byte{1, 2, 3, 4, 5, 6}, []int{0, 1, 1}, "a", "b")},
		{images([]byte{1, 2, 3, 4, 5, 6}, []int{0, 1, 0}, "a", "c")},
		{images([]byte{1, 2, 3, 4}, []int{0, 1}, "a", "b")},
		{datasets.Subset(base, []int{1, 0, 2})},
		{base, base},
		{features([]float32{1, 2, 3, 4, 5, 6}, []int{0, 1, 0})},
		{features([]float32{1, 2, 3, 4, 5, 6.5}, []int{0, 1, 0})},
	} {
		got := datasets.Fingerprint(other...)
		if slices.Contains(prints, got) {
			t.Errorf("%v has the fingerprint of another set", other)
		}
		prints = append(prints, got)
	}
	if got := datasets.Fingerprint(datasets.Subset(base, []int{0, 1, 2})); got != prints[0] {
		t.Error("a view of all rows has another fingerprint than the rows")
	}
}
