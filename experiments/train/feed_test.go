package train

import (
	"io"
	"slices"
	"testing"

	"iwda/datasets"
)

// secret is a set whose labels must not be read.
type secret struct{ datasets.Set }

func (secret) Label(int) (class int, known bool) { panic("a label of the target was read") }

// vectors are n rows of one number, of three classes in turn.
func vectors(t *testing.T, n int) datasets.Set {
	t.Helper()
	values := make([]float32, n)
	var labels datasets.Labels
	for i := range values {
		values[i] = float32(i)
		labels.Add(i%3, true)
	}
	set, err := datasets.NewFeatures("vectors", values, labels, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// No feed reads a label of the target, and each gives those of its source rows.
func TestFeedsReadNoTargetLabel(t *testing.T) {
	source, target := vectors(t, 12), secret{vectors(t, 18)}
	for name, f := range map[string]feed{
		"resampled": newResampled(source, target, 4, 1),
		"shuffled":  newShuffled(source, target, 2, 4, 1),
	} {
		for range 20 {
			b, err := f.next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, value := range b.source.floats {
				if b.labels[i] != int64(value)%3 {
					t.Errorf("%s: source row %v has the label %d", name, value, b.labels[i])
				}
			}
		}
	}
}

// Of image files, a batch holds no labels but those that the feed looks up for the source.
func TestImageFeedReadsTheSourcesLabels(t *testing.T) {
	run := resolveOffice(t, drawOffice(t, 1), "full", "dann", "train.batch=8")
	d, err := openImages(t.Context(), run, nil, Options{Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.close() }()
	l := d.feed.(*loaded)
	for range 6 {
		b, err := l.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for _, row := range l.sourceBatch.Rows {
			class, _ := d.source.At(row)
			want = append(want, int64(class))
		}
		if !slices.Equal(b.labels, want) {
			t.Errorf("labels %v, want %v", b.labels, want)
		}
	}
}
