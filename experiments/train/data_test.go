package train

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/internal/must"
	"iwda/internal/testfiles"
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
		run := must.Have(file.Resolve("clean-warped", variant, "dann", 1))(t)
		d := opened(t, run)
		got := [3][]int{d.Labels.Source.Counts(10), d.Labels.Target.Counts(10), testCounts(t, d)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", variant, diff)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}

// A set that the fractions of classes leave nothing of is an error before the first step,
// which says what is empty and what made it so.
func TestEmptySetsAreRefused(t *testing.T) {
	file, err := config.Parse("f.yaml", []byte(`experiment: shift
dataset: {name: glyphs, train_per_class: 10, test_per_class: 5}
tasks: [clean-warped]
variants: [target-none, target-untested, source-few]
methods: [dann]
seeds: [1]
train: {batch: 5}
overrides:
  - when: {variant: target-none}
    dataset: {class_fractions: [0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09]}
  - when: {variant: target-untested}
    dataset: {class_fractions: [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]}
  - when: {variant: source-few}
    dataset: {class_fractions: [0.09, 1, 1, 1, 1, 1, 1, 1, 1, 1]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for variant, want := range map[string]string{
		"target-none":     "the target of clean-warped has no rows; dataset.class_fractions",
		"target-untested": "the test set of clean-warped has no rows; dataset.class_fractions",
		"source-few":      `the source of clean-warped has no row of class "0"`,
	} {
		run, err := file.Resolve("clean-warped", variant, "dann", 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(t.Context(), run, begin(t, run), Options{Threads: 1})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", variant, err, want)
		}
	}
}

// A run of digits needs every file but those of the source's test set, which it does not
// use.
func TestDigitsReadWhatARunUses(t *testing.T) {
	pixel := make([]byte, 28*28)
	images := append([]byte{0, 0, 8, 3, 0, 0, 0, 10, 0, 0, 0, 28, 0, 0, 0, 28}, bytes.Repeat(pixel, 10)...)
	labels := []byte{0, 0, 8, 1, 0, 0, 0, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	files := map[string][]byte{
		"train-images-idx3-ubyte": images, "train-labels-idx1-ubyte": labels,
		"usps": []byte("1 1:1\n2 1:1\n"), "usps.t": []byte("3 1:1\n"),
	}
	root := t.TempDir()
	file, err := config.Parse("f.yaml", fmt.Appendf(nil, `experiment: digits
dataset: {name: digits, root: %q}
tasks: [mnist-usps]
variants: [full]
methods: [dann]
seeds: [1]
train: {batch: 5}
`, root))
	if err != nil {
		t.Fatal(err)
	}
	run := must.Have(file.Resolve("mnist-usps", "full", "dann", 1))(t)
	for name, content := range files {
		_, err := openData(run)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v without %s, want an fs.ErrNotExist", err, name)
		}
		testfiles.Write(t, filepath.Join(root, name), string(content))
	}
	t.Setenv("HOME", "") // nothing is kept, and there is no need of a place
	d := opened(t, run)
	if d.Labels.Source.Len() != 10 || d.Labels.Target.Len() != 2 || testCounts(t, d)[2] != 1 {
		t.Errorf("%d source and %d target rows, want 10 and 2", d.Labels.Source.Len(), d.Labels.Target.Len())
	}
}

// testCounts counts the rows of the test set by class, three rows at a time.
func testCounts(t *testing.T, d *data) []int {
	t.Helper()
	var labels datasets.Labels
	for batch, err := range d.onTest.batches(t.Context(), 3) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.len() {
			labels.Add(batch.labels.At(i))
		}
	}
	return labels.Counts(10)
}
