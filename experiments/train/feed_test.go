package train

import (
	"io"
	"math"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/experiments/checkpoint"
	"iwda/internal/must"
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
	return must.Have(datasets.NewFeatures("vectors", values, labels, []string{"a", "b", "c"}))(t)
}

// No feed reads a label of the target, and each gives those of its source rows.
func TestFeedsReadNoTargetLabel(t *testing.T) {
	source, target := vectors(t, 12), secret{vectors(t, 18)}
	for name, f := range map[string]feed{
		"resampled": newResampled([]datasets.Set{source}, target, 4, 1),
		"shuffled":  newShuffled([]datasets.Set{source}, target, 2, 4, 1),
	} {
		for range 20 {
			b := must.Have(f.next(t.Context()))(t)
			for i, value := range b.source.floats {
				if b.labels[i] != int64(value)%3 {
					t.Errorf("%s: source row %v has the label %d", name, value, b.labels[i])
				}
			}
		}
	}
}

func TestResamplerIsUniform(t *testing.T) {
	const n, draws = 7, 70000
	rows := newResampler(n, draws, datasets.Stream(1, "test")).next(draws)
	var times [n]float64
	repeats := 0
	for i, row := range rows {
		times[row]++
		if i > 0 && row == rows[i-1] {
			repeats++
		}
	}
	// Five standard deviations of a binomial, and of the pairs in a row.
	tolerance := 5 * math.Sqrt(draws*(1.0/n)*(1-1.0/n))
	for row, got := range times {
		if math.Abs(got-draws/n) > tolerance {
			t.Errorf("row %d drawn %v times of %d, want about %d", row, got, draws, draws/n)
		}
	}
	if math.Abs(float64(repeats)-draws/n) > tolerance {
		t.Errorf("%d of %d rows equal the one before, want about %d", repeats, draws, draws/n)
	}
}

func TestResamplerRestores(t *testing.T) {
	sampler := newResampler(1000, 77, datasets.Stream(1, "source batches"))
	sampler.next(77)
	state := sampler.state()
	want := sampler.next(77)
	restored := newResampler(1000, 77, datasets.Stream(9, "another"))
	restored.next(77)
	must.Do(t, restored.restore(state))
	if got := restored.next(77); !slices.Equal(got, want) {
		t.Error("the restored sampler draws other rows")
	}
	for length := range state.Generator {
		if err := restored.restore(checkpoint.Sampler{Generator: state.Generator[:length]}); err == nil {
			t.Errorf("no error for %d of %d bytes of state", length, len(state.Generator))
		}
	}
}

// Of image files, a batch holds no labels but those that the feed looks up for the source.
func TestImageFeedReadsTheSourcesLabels(t *testing.T) {
	run := resolveOffice(t, drawOffice(t, 1), "full", "dann", "train.batch=8")
	d := must.Have(openImages(t.Context(), run, nil, Options{Log: io.Discard}))(t)
	defer func() { _ = d.close() }()
	l := d.feed.(*loaded)
	for range 6 {
		b := must.Have(l.next(t.Context()))(t)
		var want []int64
		for _, row := range l.handed[0].Rows {
			class, _ := d.Labels.Source.At(row)
			want = append(want, int64(class))
		}
		if !slices.Equal(b.labels, want) {
			t.Errorf("labels %v, want %v", b.labels, want)
		}
	}
}
