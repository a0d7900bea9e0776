package catalogue_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Drawn sets follow from the seed, and have as many rows as were asked for.
func TestDrawnSets(t *testing.T) {
	for _, data := range catalogue.All() {
		if !data.Drawn() {
			continue
		}
		source, target, _ := strings.Cut(data.Tasks[0], "-")
		draw := func(seed int64) (sum string, rows []int) {
			task := openTask(t, data, source, target, catalogue.Source{Seed: seed, TrainPerClass: 4, TestPerClass: 2})
			s, d, e := task.Source, task.Target, task.Test
			names := []string{s.Name(), d.Name(), e.Name()}
			if want := []string{source + "-train", target + "-train", target + "-test"}; !slices.Equal(names, want) || !slices.Equal(s.ClassNames(), data.Classes) {
				t.Errorf("%s: sets %q, want %q, of classes %q", data.Name, names, want, s.ClassNames())
			}
			return datasets.Fingerprint(s, d, e), []int{s.Len(), d.Len(), e.Len()}
		}
		k := len(data.Classes)
		first, rows := draw(1)
		if !slices.Equal(rows, []int{4 * k, 4 * k, 2 * k}) {
			t.Errorf("%s: %v rows of %d classes", data.Name, rows, k)
		}
		again, _ := draw(1)
		other, _ := draw(2)
		if again != first || other == first {
			t.Errorf("%s: one seed twice %t, another seed %t", data.Name, again == first, other == first)
		}
	}
}

// writeDigits writes ten blank digits of MNIST and three of USPS.
func writeDigits(t *testing.T) (root string) {
	t.Helper()
	header := []byte{0, 0, 8, 3, 0, 0, 0, 10, 0, 0, 0, 28, 0, 0, 0, 28}
	images := append(header, make([]byte, 10*28*28)...)
	labels := []byte{0, 0, 8, 1, 0, 0, 0, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	return testfiles.Folder(t, map[string][]byte{
		"train-images-idx3-ubyte": images, "train-labels-idx1-ubyte": labels,
		"t10k-images-idx3-ubyte": images, "t10k-labels-idx1-ubyte": labels,
		"usps": []byte("1 1:1\n2 1:1\n"), "usps.t": []byte("3 1:1\n"),
	})
}

func TestDigits(t *testing.T) {
	data, root := find(t, "digits"), writeDigits(t)
	task := openTask(t, data, "usps", "mnist", catalogue.Source{Root: root})
	if got := fmt.Sprintln(task.Source.Name(), task.Source.Len(), task.Target.Name(), task.Target.Len(), task.Test.Name(), task.Test.Len()); got != "usps-train 2 mnist-train 10 mnist-test 10\n" {
		t.Error(got)
	}
	var report strings.Builder
	must.Fail(t, data.Check(t.Context(), root, &report), "mnist-train: [1 1 1 1 1 1 1 1 1 1], want [5923", "mnist-test", "usps-train", "usps-test: [0 0 1")
	if report.Len() > 0 {
		t.Errorf("%q of what is not as published", &report)
	}
	testfiles.Remove(t, filepath.Join(root, "usps.t"))
	must.Fail(t, data.Check(t.Context(), root, &report), "no file usps.t.bz2 or usps.t")
}

// TestPublicDigits checks the public files where $IWDA_DATA names their folder's parent;
// a relative path is one from the module's root.
func TestPublicDigits(t *testing.T) {
	folder := os.Getenv("IWDA_DATA")
	if folder == "" {
		return
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join("..", "..", folder)
	}
	var report strings.Builder
	if err := find(t, "digits").Check(t.Context(), filepath.Join(folder, "digits"), &report); err != nil {
		t.Error(err)
	}
	if strings.Count(report.String(), "as published\n") != 4 {
		t.Error(report.String())
	}
}
