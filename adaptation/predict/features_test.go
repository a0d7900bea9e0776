package predict

import (
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/torch"
)

// Features are what the network makes of the rows as they are, in batches as at once.
func TestFeatures(t *testing.T) {
	m := makeModel(t, mlp(2, 4, 3))
	values := []float32{3, -2, 1, -1, -1, -3, 0.5, 4, -2, 2}
	rows, err := datasets.NewFeatures("rows", values, datasets.UnknownLabels(5), m.Classes)
	if err != nil {
		t.Fatal(err)
	}
	var want []float32
	torch.Tidy(func() {
		features, _ := networkOf(t, m).Forward(torch.FromSlice(values, 5, 2), false)
		want = torch.ToSlice[float32](features)
	})
	got, width, err := Features(t.Context(), m, rows, twoRows)
	if err != nil || width != 4 {
		t.Fatalf("%d values a row, %v", width, err)
	}
	near(t, got, want)
	if whole, _, err := Features(t.Context(), m, rows, Options{Torch: iwrunTorch}); err != nil || len(whole) != len(want) {
		t.Errorf("%d values with the usual options, %v", len(whole), err)
	}
	if slices.Max(got) == 0 {
		t.Error("all features are 0, so that the test shows nothing")
	}
}
