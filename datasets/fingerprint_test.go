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
		set := newImages(t, "test", []int{1, 1, 2}, names, pixels, datasets.KnownLabels(labels))
		return set
	}
	features := func(values []float32, labels []int) datasets.Set {
		set := newFeatures(t, "test", values, datasets.KnownLabels(labels), []string{"a", "b"})
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
	view := datasets.Subset(base, []int{0, 1, 2})
	for _, same := range []datasets.Set{view, datasets.Subset(view, []int{0, 1, 2})} {
		if got := datasets.Fingerprint(same); got != prints[0] {
			t.Error("a view of all rows has another fingerprint than the rows")
		}
	}
}

// A checkpoint names the data that it was trained on, so that no later version may
// change what the same data are called.
func TestFingerprintsStay(t *testing.T) {
	images := newImages(t, "images", []int{1, 2, 2}, []string{"a", "b"}, []byte{0, 1, 2, 3, 252, 253, 254, 255}, datasets.KnownLabels([]int{1, 0}))
	features := newFeatures(t, "features", []float32{-1, 0.5, 3, 1e-9}, datasets.KnownLabels([]int{0, 1}), []string{"a", "b"})
	for want, sets := range map[string][]datasets.Set{
		"441be33fb1b217577ab2cb00ad2a63630585fbded3c5959813cd03482cadbda4": {images},
		"a68a41458813b2cd49d64cdd3bd30d0bfb21c99670fa40bbff724c501c88d3d6": {datasets.Subset(images, []int{1, 1, 0})},
		"ebfb2c1cdac4567f9387c05e26eef955b2c18db856f894c4f495c4006cf67571": {features},
		"b428757cdf8770f1ba7f00e245b2c4fbc0e008bdfbd42fea0fb0dfce3095968d": {datasets.Subset(features, []int{1, 0})},
		"16cbfda51048d960b471258592794ce4e8ba86352dbc33e4828cda41e62f1433": {images, features, images},
	} {
		if got := datasets.Fingerprint(sets...); got != want {
			t.Errorf("fingerprint %s, want %s", got, want)
		}
	}
}
