package train

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/config"
)

// TestVariants counts the images of each class in each variant.
func TestVariants(t *testing.T) {
	file, err := config.Parse("f.yaml", []byte(`experiment: shift
dataset: {name: glyphs, train_per_class: 10, test_per_class: 5, fraction: 0.3}
tasks: [clean-warped]
variants: [full, subsampled, source-x, target-x]
methods: [dann]
seeds: [1]
train: {batch: 5}
overrides:
  - when: {variant: "*-x"}
    dataset: {class_fractions: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]}
`))
	if err != nil {
		t.Fatal(err)
	}
	all, test := []int{10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, []int{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}
	rising, risingTest := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []int{0, 1, 1, 2, 2, 3, 3, 4, 4, 5}
	for variant, want := range map[string][3][]int{
		"full":       {all, all, test},
		"subsampled": {{3, 3, 3, 3, 3, 10, 10, 10, 10, 10}, all, test},
		"source-x":   {rising, all, test},
		"target-x":   {all, rising, risingTest},
	} {
		run, err := file.Resolve("clean-warped", variant, "dann", 1)
		if err != nil {
			t.Fatal(err)
		}
		d, err := openData(run)
		if err != nil {
			t.Fatal(err)
		}
		got := [3][]int{countsOf(d.source), countsOf(d.target), testCounts(t, d)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", variant, diff)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}

func countsOf(labels []int) []int {
	counts := make([]int, 10)
	for _, label := range labels {
		counts[label]++
	}
	return counts
}

// testCounts counts the rows of the test set by class, three rows at a time.
func testCounts(t *testing.T, d *data) []int {
	t.Helper()
	var labels []int
	for batch, err := range d.onTest.batches(t.Context(), 3) {
		if err != nil {
			t.Fatal(err)
		}
		for _, label := range batch.labels {
			labels = append(labels, int(label))
		}
	}
	return countsOf(labels)
}
