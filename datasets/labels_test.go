package datasets_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
)

// partly returns labels 0, 1, 2, 0, 1, 2, …, of which every fourth is unknown.
func partly(n int) datasets.Labels {
	var labels datasets.Labels
	for i := range n {
		labels.Add(i%3, i%4 != 3)
	}
	return labels
}

func TestLabelsThatAreUnknown(t *testing.T) {
	labels := partly(10) // 0 1 2 ? 1 2 0 ? 2 0
	if labels.Len() != 10 || labels.Known() != 8 {
		t.Errorf("%d of %d labels are known, want 8 of 10", labels.Known(), labels.Len())
	}
	if got, want := labels.Counts(4), []int{3, 2, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	if got, want := labels.Shares(4), []float64{0.375, 0.25, 0.375, 0}; !slices.Equal(got, want) {
		t.Errorf("shares %v, want %v", got, want)
	}
	subset := labels.Subset([]int{9, 3, 3, 4})
	for i, want := range []struct {
		class int
		known bool
	}{{0, true}, {0, false}, {0, false}, {1, true}} {
		if class, known := subset.At(i); class != want.class || known != want.known {
			t.Errorf("label %d of the subset is %d, %t, want %d, %t", i, class, known, want.class, want.known)
		}
	}
	if all := datasets.KnownLabels([]int{1, 0}); all.Known() != 2 {
		t.Errorf("%d of 2 labels are known", all.Known())
	}
	none := datasets.UnknownLabels(3)
	if _, known := none.At(2); known || none.Len() != 3 || none.Known() != 0 {
		t.Errorf("%d of %d labels are known, want none of 3", none.Known(), none.Len())
	}
}

// A set of rows without labels is like any other, but for what is asked of its classes.
func TestSetWithoutLabels(t *testing.T) {
	set := newFeatures(t, "partly", make([]float32, 20), partly(10), []string{"a", "b", "c"})
	if got, want := datasets.Counts(set), []int{3, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	if view := datasets.Subset(set, []int{3, 4}); classOf(view, 0) != -1 || classOf(view, 1) != 1 || datasets.LabelsOf(view).Known() != 1 {
		t.Errorf("classes %d and %d of a view, want an unknown one and 1", classOf(view, 0), classOf(view, 1))
	}
	must.Refuse(datasets.Subsample(set, []float64{1, 1, 1}, rand.New(rand.NewPCG(1, 1))))(t, "partly: datasets: subsampling: row 3 has no label")
	must.Refuse(datasets.NewFeatures("wrong", make([]float32, 10), partly(10), []string{"a", "b"}))(t, "row 2: label 2")
	labelled := newFeatures(t, "whole", make([]float32, 20), datasets.KnownLabels([]int{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}), set.ClassNames())
	if datasets.Fingerprint(set) == datasets.Fingerprint(labelled) {
		t.Error("the fingerprint does not tell an unknown label from a known one")
	}
}

// The divergence of distributions that are almost equal is no negative number, of which
// nobody could take the root.
func TestJSDIsNotNegative(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		p, q := make([]float64, 4), make([]float64, 4)
		var sumP, sumQ float64
		for c := range p {
			p[c] = random.Float64()
			q[c] = p[c] * (1 + 1e-9*random.NormFloat64())
			sumP, sumQ = sumP+p[c], sumQ+q[c]
		}
		for c := range p {
			p[c], q[c] = p[c]/sumP, q[c]/sumQ
		}
		if d := datasets.JSD(p, q); !(d >= 0 && d < 1e-12) {
			t.Fatalf("divergence %v of %v and %v", d, p, q)
		}
	}
}
