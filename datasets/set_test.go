package datasets_test

import (
	"math"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
)

// ramp returns a set of n rows of shape {1, 2, 2} and three classes, whose values
// and labels tell the rows apart: pixel j of row i is 4i+j, its label i mod 3.
func ramp(t testing.TB, n int) *datasets.Images {
	t.Helper()
	pixels := make([]byte, 4*n)
	labels := make([]int, n)
	for i := range pixels {
		pixels[i] = byte(i)
	}
	for i := range labels {
		labels[i] = i % 3
	}
	set := newImages(t, "ramp", []int{1, 2, 2}, []string{"a", "b", "c"}, pixels, datasets.KnownLabels(labels))
	return set
}

// classOf is the class of a row, -1 where it is unknown.
func classOf(set datasets.Set, row int) int {
	if class, known := set.Label(row); known {
		return class
	}
	return -1
}

func TestNewImagesRejectsWhatDoesNotFit(t *testing.T) {
	names := []string{"a", "b"}
	for _, test := range []struct {
		pixels int
		labels []int
		want   string
	}{
		{7, []int{0, 1}, "need 8 pixels, got 7"},
		{8, []int{0, 2}, "row 1: label 2, want 0 to 1"},
		{8, []int{-1, 1}, "row 0: label -1, want 0 to 1"},
	} {
		_, err := datasets.NewImages("set", []int{1, 2, 2}, names, make([]byte, test.pixels), datasets.KnownLabels(test.labels))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d pixels, labels %v: error %v, want one with %q", test.pixels, test.labels, err, test.want)
		}
	}
}

func TestCopyRowNormalises(t *testing.T) {
	pixels := make([]byte, 256)
	for i := range pixels {
		pixels[i] = byte(i)
	}
	set := newImages(t, "bytes", []int{1, 16, 16}, []string{"a"}, pixels, datasets.KnownLabels([]int{0}))
	row := make([]float32, 256)
	set.CopyRow(row, 0)
	if row[0] != -1 || row[255] != 1 {
		t.Errorf("bytes 0 and 255 are %v and %v, want -1 and 1", row[0], row[255])
	}
	for x, got := range row {
		if want := (float64(x)/255 - 0.5) / 0.5; math.Abs(float64(got)-want) > 2e-7 {
			t.Errorf("byte %d is %v, want %v", x, got, want)
		}
	}
}

func TestCopyRowsKeepsRowsLabelsAndOrder(t *testing.T) {
	set := ramp(t, 10)
	rows := []int{7, 0, 7, 9}
	values := make([]float32, 4*len(rows))
	labels := make([]int64, len(rows))
	datasets.CopyRows(values, set, rows)
	datasets.CopyLabels(labels, set, rows)
	for b, i := range rows {
		if labels[b] != int64(i%3) {
			t.Errorf("label %d is %d, want %d", b, labels[b], i%3)
		}
		for j, x := range set.Pixels(i) {
			if x != byte(4*i+j) {
				t.Errorf("pixel %d of row %d is %d, want %d", j, i, x, 4*i+j)
			}
			if got := int(math.Round((float64(values[4*b+j])*0.5 + 0.5) * 255)); got != int(x) {
				t.Errorf("value %d of batch row %d stands for byte %d, want %d", j, b, got, x)
			}
		}
	}
}

func TestCopyRowsDoesNotAllocate(t *testing.T) {
	features := newFeatures(t, "features", make([]float32, 12), datasets.KnownLabels([]int{0, 1, 0}), []string{"a", "b"})
	rows := []int{2, 1, 0, 2}
	values := make([]float32, 16)
	labels := make([]int64, 4)
	for _, set := range []datasets.Set{datasets.Subset(ramp(t, 10), []int{9, 8, 7}), features, datasets.Subset(features, []int{2, 0, 1})} {
		if n := testing.AllocsPerRun(100, func() {
			datasets.CopyRows(values, set, rows)
			datasets.CopyLabels(labels, set, rows)
		}); n != 0 {
			t.Errorf("%s: %v allocations a batch, want none", set.Name(), n)
		}
	}
}

func TestCopyRowBehindTheLast(t *testing.T) {
	features := newFeatures(t, "features", make([]float32, 12), datasets.KnownLabels([]int{0, 1, 0}), []string{"a", "b"})
	for _, set := range []datasets.Set{ramp(t, 3), features, datasets.Subset(features, []int{0, 1, 2})} {
		for _, row := range []int{-1, 3} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("row %d of %s, which has 3, was copied", row, set.Name())
					}
				}()
				set.CopyRow(make([]float32, 4), row)
			}()
		}
	}
}

func TestSubsetOfSubset(t *testing.T) {
	set := ramp(t, 10)
	view := datasets.Subset(datasets.Subset(set, []int{8, 3, 3, 5}), []int{3, 0, 1})
	if view.Len() != 3 || view.Name() != "ramp" {
		t.Fatalf("%s has %d rows, want ramp with 3", view.Name(), view.Len())
	}
	got, want := make([]float32, 4), make([]float32, 4)
	for i, original := range []int{5, 8, 3} {
		if classOf(view, i) != classOf(set, original) {
			t.Errorf("label of row %d is %d, want %d", i, classOf(view, i), classOf(set, original))
		}
		view.CopyRow(got, i)
		set.CopyRow(want, original)
		for j := range got {
			if got[j] != want[j] {
				t.Errorf("row %d is %v, want %v", i, got, want)
				break
			}
		}
	}
}

func TestMisusePanics(t *testing.T) {
	set := ramp(t, 5)
	unlabelled := newImages(t, "no labels", []int{1}, []string{"a"}, []byte{0, 1}, datasets.UnknownLabels(2))
	for name, misuse := range map[string]func(){
		"short row":           func() { set.CopyRow(make([]float32, 3), 0) },
		"short batch":         func() { datasets.CopyRows(make([]float32, 4), set, []int{0, 1}) },
		"too few labels":      func() { datasets.CopyLabels(make([]int64, 1), set, []int{0, 1}) },
		"row outside the set": func() { datasets.Subset(set, []int{0, 5}) },
		"negative row":        func() { datasets.Subset(set, []int{-1}) },
		"unknown label":       func() { datasets.CopyLabels(make([]int64, 1), unlabelled, []int{1}) },
		"empty distribution":  func() { datasets.LabelsOf(datasets.Subset(set, nil)).Shares(2) },
		"fractions":           func() { _, _ = datasets.Subsample(set, []float64{1}, newRandom(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse()
		})
	}
}

func newImages(t testing.TB, name string, shape []int, classes []string, pixels []byte, labels datasets.Labels) *datasets.Images {
	t.Helper()
	return must.Have(datasets.NewImages(name, shape, classes, pixels, labels))(t)
}

func newFeatures(t testing.TB, name string, values []float32, labels datasets.Labels, classes []string) *datasets.Features {
	t.Helper()
	return must.Have(datasets.NewFeatures(name, values, labels, classes))(t)
}
