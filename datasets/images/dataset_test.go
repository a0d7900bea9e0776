package images_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/images"
)

// distribution is the label distribution of numbers of images.
func distribution(counts []int) []float64 {
	total := 0
	for _, count := range counts {
		total += count
	}
	shares := make([]float64, len(counts))
	for c, count := range counts {
		shares[c] = float64(count) / float64(total)
	}
	return shares
}

// The paper's divergences between label distributions (natural logarithm, three
// digits), of the full source and of the subsampled one: they tell whether counts
// and label order are those of the paper.
func TestCountsGiveThePapersDivergences(t *testing.T) {
	tests := []struct {
		dataset          images.Dataset
		source, target   string
		full, subsampled float64
	}{
		{images.VisDA(), "synthetic", "real", 2.61e-2, 6.81e-2},
		{images.Office31(), "amazon", "dslr", 1.76e-2, 6.25e-2},
		{images.Office31(), "amazon", "webcam", 9.52e-3, 4.61e-2},
		{images.Office31(), "dslr", "amazon", 1.76e-2, 5.44e-2},
		{images.Office31(), "dslr", "webcam", 2.11e-2, 5.67e-2},
		{images.Office31(), "webcam", "amazon", 9.52e-3, 5.15e-2},
		{images.Office31(), "webcam", "dslr", 2.11e-2, 7.05e-2},
		{images.OfficeHome(), "art", "clipart", 3.85e-2, 8.41e-2},
		{images.OfficeHome(), "art", "product", 4.49e-2, 8.86e-2},
		{images.OfficeHome(), "art", "real", 2.40e-2, 6.69e-2},
		{images.OfficeHome(), "clipart", "product", 2.33e-2, 5.86e-2},
		{images.OfficeHome(), "clipart", "real", 2.14e-2, 5.68e-2},
		{images.OfficeHome(), "product", "art", 4.49e-2, 7.85e-2},
		{images.OfficeHome(), "product", "real", 1.61e-2, 5.33e-2},
		{images.OfficeHome(), "real", "art", 2.40e-2, 6.09e-2},
		{images.OfficeHome(), "real", "clipart", 2.14e-2, 6.52e-2},
	}
	for _, test := range tests {
		source, err := test.dataset.Domain(test.source)
		if err != nil {
			t.Fatal(err)
		}
		target, err := test.dataset.Domain(test.target)
		if err != nil {
			t.Fatal(err)
		}
		half := slices.Clone(source.Counts)
		for c := range len(half) / 2 {
			half[c] = half[c] * 3 / 10
		}
		for _, part := range []struct {
			counts []int
			want   float64
		}{{source.Counts, test.full}, {half, test.subsampled}} {
			got := datasets.JSD(distribution(part.counts), distribution(target.Counts))
			if math.Abs(got-part.want) > 0.006*part.want {
				t.Errorf("%s, %s to %s: divergence %.4g, want %.3g", test.dataset.Title, test.source, test.target, got, part.want)
			}
		}
	}
}

func TestTotals(t *testing.T) {
	want := map[string]int{
		"office31 amazon": 2817, "office31 dslr": 498, "office31 webcam": 795,
		"officehome art": 2427, "officehome clipart": 4365, "officehome product": 4439, "officehome real": 4357,
		"visda synthetic": 152397, "visda real": 55388,
	}
	for _, dataset := range images.Datasets() {
		for _, domain := range dataset.Domains {
			name := dataset.Name + " " + domain.Name
			if got := domain.Total(); got != want[name] {
				t.Errorf("%s: %d images, want %d", name, got, want[name])
			}
			if len(domain.Counts) != len(dataset.Classes) {
				t.Errorf("%s: %d counts of %d classes", name, len(domain.Counts), len(dataset.Classes))
			}
		}
	}
}

func TestUnknownNames(t *testing.T) {
	_, err := images.Find("office")
	if err == nil || !strings.Contains(err.Error(), "office31, officehome, visda") {
		t.Errorf("Find: %v, want an error that lists the data sets", err)
	}
	_, err = images.Office31().Domain("Amazon")
	if err == nil || !strings.Contains(err.Error(), "amazon, dslr, webcam") {
		t.Errorf("Domain: %v, want an error that lists the domains", err)
	}
}

func TestSubsampleRowsKeepsWhatSubsampleKeeps(t *testing.T) {
	labels := []int{0, 1, 0, 2, 1, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0}
	fractions := []float64{0.3, 0.5, 1}
	set, err := datasets.NewImages("rows", []int{1}, []string{"a", "b", "c"}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, labels)
	if err != nil {
		t.Fatal(err)
	}
	subset, err := datasets.Subsample(set, fractions, rand.New(datasets.Stream(3, "subsample")))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := datasets.SubsampleRows(labels, fractions, rand.New(datasets.Stream(3, "subsample")))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 6 || subset.Len() != 6 { // floor(0.3·9), floor(0.5·4), 2
		t.Fatalf("%d rows and %d images, want 6", len(rows), subset.Len())
	}
	got, want := make([]float32, 1), make([]float32, 1)
	for i, row := range rows {
		subset.CopyRow(got, i)
		set.CopyRow(want, row)
		if got[0] != want[0] {
			t.Errorf("row %d of the subset is not row %d", i, row)
		}
	}
	if _, err := datasets.SubsampleRows(labels, []float64{0.3, -1, 1}, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("no error for a negative fraction")
	}
}

func ExampleDataset_Instructions() {
	fmt.Println(images.Office31().Instructions("data/office31"))
	// Output:
	// Office-31: 4110 images of 31 classes in 3 domains.
	// Source: Saenko et al. 2010, Adapting Visual Category Models to New Domains; archive domain_adaptation_images.tar.gz.
	// Unpack into data/office31, so that there is, as an example, data/office31/amazon/images/back_pack/frame_0001.jpg.
	// Folders, each with a folder a class: amazon/images (2817 images), dslr/images (498 images), webcam/images (795 images).
	// Or list the images, a line "path label" each, in data/office31/DOMAIN.txt.
}
