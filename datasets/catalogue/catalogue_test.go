package catalogue_test

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
)

func find(t testing.TB, name string) catalogue.Dataset {
	t.Helper()
	return must.Have(catalogue.Find(name))(t)
}

// Every file of the catalogue is complete, and what it says fits together.
func TestEveryDatasetIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, data := range catalogue.All() {
		if data.Name == "" || data.Title == "" || data.Kind == 0 || seen[data.Name] {
			t.Errorf("%q: title %q, kind %d, or the name twice", data.Name, data.Title, data.Kind)
		}
		seen[data.Name] = true
		if text := data.Instructions("some/where"); text == "" || strings.HasSuffix(text, "\n") || data.Drawn() == strings.Contains(text, "some/where") {
			t.Errorf("%s: instructions %q", data.Name, text)
		}
		if (data.Domains == nil) != (data.Tasks == nil) {
			t.Errorf("%s: %d domains and %d tasks", data.Name, len(data.Domains), len(data.Tasks))
		}
		for _, domain := range data.Domains {
			if domain.Name == "" || strings.Contains(domain.Name, "-") {
				t.Errorf("%s: domain %q", data.Name, domain.Name)
			}
			for _, counts := range [][]int{domain.Train, domain.Test} {
				if counts != nil && (len(counts) != len(data.Classes) || slices.Min(counts) <= 0) {
					t.Errorf("%s %s: counts %v of %d classes", data.Name, domain.Name, counts, len(data.Classes))
				}
			}
			if data.Checkable() && domain.Train == nil {
				t.Errorf("%s %s: nothing to check a copy against", data.Name, domain.Name)
			}
		}
		for _, task := range data.Tasks {
			source, target, _ := strings.Cut(task, "-")
			_, err := data.Domain(source)
			if _, also := data.Domain(target); err != nil || also != nil || source == target {
				t.Errorf("%s: task %s: %v, %v", data.Name, task, err, also)
			}
		}
	}
}

// What a caller does to a data set does not reach the next one who asks.
func TestFindGivesOnesOwn(t *testing.T) {
	find(t, "digits").Domains[0].Train[0] = 0
	find(t, "office31").Classes[0] = "changed"
	if find(t, "digits").Domains[0].Train[0] != 5923 || find(t, "office31").Classes[0] != "back_pack" {
		t.Error("a change of one's own data set changed the catalogue")
	}
}

func TestUnknownNames(t *testing.T) {
	must.Refuse(catalogue.Find("office"))(t, `"office"`, strings.Join(catalogue.Names(), ", "))
	must.Refuse(find(t, "office31").Domain("Amazon"))(t, `"Amazon"`, "amazon, dslr, webcam")
	for _, name := range []string{"digits", "glyphs"} {
		must.Refuse(find(t, name).OpenTask("elsewhere", "nowhere", catalogue.Source{Root: t.TempDir(), TrainPerClass: 1, TestPerClass: 1}))(t, "elsewhere")
	}
}

// Values in memory cannot be opened as image files, nor image files as values.
func TestTheOtherKind(t *testing.T) {
	must.Refuse(find(t, "digits").OpenImages(t.TempDir(), "mnist"))(t, "digits consists of values in memory")
	must.Refuse(find(t, "visda").OpenTask("synthetic", "real", catalogue.Source{}))(t, "visda consists of image files")
	must.Fail(t, find(t, "glyphs").Check(t.Context(), "", io.Discard), "glyphs has no published form")
}

func total(counts []int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// The paper's divergences between label distributions (natural logarithm, three
// digits), of the full source and of the subsampled one: they tell whether counts
// and label order are those of the paper.
func TestCountsGiveThePapersDivergences(t *testing.T) {
	for _, test := range []struct {
		dataset, source, target string
		full, subsampled        float64
	}{
		{"digits", "mnist", "usps", 6.64e-3, 6.52e-2},
		{"digits", "usps", "mnist", 6.64e-3, 2.75e-2},
		{"visda", "synthetic", "real", 2.61e-2, 6.81e-2},
		{"office31", "amazon", "dslr", 1.76e-2, 6.25e-2},
		{"office31", "amazon", "webcam", 9.52e-3, 4.61e-2},
		{"office31", "dslr", "amazon", 1.76e-2, 5.44e-2},
		{"office31", "dslr", "webcam", 2.11e-2, 5.67e-2},
		{"office31", "webcam", "amazon", 9.52e-3, 5.15e-2},
		{"office31", "webcam", "dslr", 2.11e-2, 7.05e-2},
		{"officehome", "art", "clipart", 3.85e-2, 8.41e-2},
		{"officehome", "art", "product", 4.49e-2, 8.86e-2},
		{"officehome", "art", "real", 2.40e-2, 6.69e-2},
		{"officehome", "clipart", "product", 2.33e-2, 5.86e-2},
		{"officehome", "clipart", "real", 2.14e-2, 5.68e-2},
		{"officehome", "product", "art", 4.49e-2, 7.85e-2},
		{"officehome", "product", "real", 1.61e-2, 5.33e-2},
		{"officehome", "real", "art", 2.40e-2, 6.09e-2},
		{"officehome", "real", "clipart", 2.14e-2, 6.52e-2},
	} {
		data := find(t, test.dataset)
		source := must.Have(data.Domain(test.source))(t)
		target := must.Have(data.Domain(test.target))(t)
		half := slices.Clone(source.Train)
		for c := range len(half) / 2 {
			half[c] = half[c] * 3 / 10
		}
		for _, part := range []struct {
			counts []int
			want   float64
		}{{source.Train, test.full}, {half, test.subsampled}} {
			got := datasets.JSD(distribution(part.counts), distribution(target.Train))
			if math.Abs(got-part.want) > 0.006*part.want {
				t.Errorf("%s, %s to %s: divergence %.4g, want %.3g", data.Title, test.source, test.target, got, part.want)
			}
		}
	}
}

// distribution are the shares of classes with so many rows.
func distribution(counts []int) (shares []float64) {
	for _, n := range counts {
		shares = append(shares, float64(n)/float64(total(counts)))
	}
	return shares
}

func TestTotals(t *testing.T) {
	want := map[string][2]int{
		"digits mnist": {60000, 10000}, "digits usps": {7291, 2007},
		"office31 amazon": {2817}, "office31 dslr": {498}, "office31 webcam": {795},
		"officehome art": {2427}, "officehome clipart": {4365}, "officehome product": {4439}, "officehome real": {4357},
		"visda synthetic": {152397}, "visda real": {55388},
	}
	for _, data := range catalogue.All() {
		for _, domain := range data.Domains {
			name := data.Name + " " + domain.Name
			if got := [2]int{total(domain.Train), total(domain.Test)}; got != want[name] {
				t.Errorf("%s: %d images, want %d", name, got, want[name])
			}
		}
	}
}

// writeImages writes n small images for each class below a folder.
func writeImages(t *testing.T, folder string, classes []string, n int) {
	t.Helper()
	for _, class := range classes {
		testfiles.MakeFolder(t, filepath.Join(folder, class))
		for i := range n {
			path := filepath.Join(folder, class, fmt.Sprintf("%d.png", i))
			must.Do(t, wholefile.Write(path, func(w io.Writer) error { return png.Encode(w, image.NewGray(image.Rect(0, 0, 2, 2))) }))
		}
	}
}

func TestOpenImagesFindsTheFoldersOfTheArchives(t *testing.T) {
	for _, test := range []struct{ dataset, domain, folder string }{
		{"office31", "amazon", "amazon/images"},
		{"office31", "dslr", "dslr"},
		{"officehome", "real", "Real World"},
		{"officehome", "real", "real_world"},
		{"officehome", "art", "OfficeHomeDataset_10072016/Art"},
		{"visda", "synthetic", "train"},
		{"visda", "real", "validation"},
	} {
		data, root := find(t, test.dataset), t.TempDir()
		writeImages(t, filepath.Join(root, test.folder), data.Classes, 1)
		set, err := data.OpenImages(root, test.domain)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := filepath.Join(root, test.folder, data.Classes[2], "0.png"); set.Path(2) != want || set.Name() != test.dataset+"-"+test.domain {
			t.Errorf("image 2 of %s is %s, want %s", set.Name(), set.Path(2), want)
		}
	}
}

func TestCheckOffice31(t *testing.T) {
	data, root := find(t, "office31"), t.TempDir()
	writeImages(t, filepath.Join(root, "dslr"), data.Classes, 12)
	var report strings.Builder
	must.Fail(t, data.Check(t.Context(), root, &report), "not as published")
	for _, part := range []string{"amazon: images: nothing of office31-amazon", "dslr: 372 of 498 images, not as published", "  bike: 12 images, want 21\n"} {
		if !strings.Contains(report.String(), part) {
			t.Errorf("%q lacks %q", &report, part)
		}
	}
	if strings.Contains(report.String(), "back_pack") {
		t.Errorf("%q complains of a class that is whole", &report)
	}
}

func ExampleDataset_Instructions() {
	office, err := catalogue.Find("office31")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(office.Instructions("data/office31"))
	// Output:
	// Office-31: 4110 images of 31 classes in 3 domains.
	// Source: Saenko et al. 2010, Adapting Visual Category Models to New Domains; archive domain_adaptation_images.tar.gz.
	// Unpack into data/office31, so that there is, as an example, data/office31/amazon/images/back_pack/frame_0001.jpg.
	// Folders, each with a folder a class: amazon/images (2817 images), dslr/images (498 images), webcam/images (795 images).
}
