package main

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/experiments/config"
)

func TestOutcomesAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", "outcomes.csv")
	if all, err := readOutcomes(path); err != nil || len(all) > 0 {
		t.Fatalf("without a file: %v, %v", all, err)
	}
	all := outcomes{
		curve{Accuracies: []float64{0.1, 0.95, 0.925}}.outcome("paper", 3, "iwda"),
		curve{Accuracies: []float64{0.1, 0.5}, NotFinite: "domain loss"}.outcome("paper", 3, "PyTorch"),
		curve{Accuracies: []float64{0.1, 0.825}}.outcome("paper", 4, "iwda"),
	}
	if err := all.write(path); err != nil {
		t.Fatal(err)
	}
	again, err := readOutcomes(path)
	if err != nil || !reflect.DeepEqual(again, all) {
		t.Errorf("read %v, %v; want %v", again, err, all)
	}
	if !again.has("paper", 3, "PyTorch") || again.has("paper", 4, "PyTorch") || again.has("normalised", 3, "iwda") {
		t.Error("has tells of runs that are not there, or not of those that are")
	}
	for side, want := range map[string]string{
		"iwda":    "paper, iwda: 2 runs, 0 not finite, 1 above 90% at the end; of those that were finished 87.5 ± 7.1, 82.5 to 92.5",
		"PyTorch": "paper, PyTorch: 1 runs, 1 not finite, 0 above 90% at the end",
	} {
		if got := again.summary("paper", side); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if got, want := all[1].String(), "paper, seed 3, PyTorch: the domain loss is not finite in epoch 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDamagedOutcomes(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "columns",
		"setting,seed\na,1\n": "columns",
		strings.Join(header, ",") + "\npaper,one,iwda,0.5,0.5,20,\n": ":2: ",
	} {
		path := filepath.Join(t.TempDir(), "outcomes.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readOutcomes(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// TestDivergence: what a run says of its end names the loss.
func TestDivergence(t *testing.T) {
	const said = "subsampled/clean-warped/iwdan/seed-2: epoch 11, step 670: the classification loss is NaN; training has diverged: try"
	if found := diverged.FindStringSubmatch(said); found == nil || found[1] != "classification loss" {
		t.Errorf("found %q", found)
	}
	if diverged.MatchString("the disk is full") {
		t.Error("another failure passes for a divergence")
	}
}

// TestWriteRun: the peer's images are those of the run: a source thinned out in its first
// five classes, its first image and its labels, and the settings under the names that the
// script reads.
func TestWriteRun(t *testing.T) {
	file, err := config.Parse("demo.yaml", []byte(`experiment: demo
dataset: {name: glyphs, fraction: 0.5, train_per_class: 4, test_per_class: 2}
tasks: [clean-warped]
variants: [subsampled]
methods: [iwdan]
seeds: [7]
discriminator: {normalise: rows}
train: {epochs: 3, schedule: {every: 2}}
`))
	if err != nil {
		t.Fatal(err)
	}
	run, err := file.Single()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := writeRun(folder, run); err != nil {
		t.Fatal(err)
	}

	var settings struct {
		Seed          int64
		Discriminator struct{ Normalise string }
		Train         struct {
			Epochs   int
			Schedule struct{ Every int }
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	if settings.Seed != 7 || settings.Discriminator.Normalise != "rows" || settings.Train.Epochs != 3 || settings.Train.Schedule.Every != 2 {
		t.Errorf("run.json holds %+v", settings)
	}

	source := make([]float32, 30*28*28)
	readArray(t, filepath.Join(folder, "source.npz"), "features", source)
	whole, err := datasets.DrawGlyphs("clean", "train", 4, 7)
	if err != nil {
		t.Fatal(err)
	}
	last := make([]float32, 28*28)
	whole.CopyRow(last, 39)
	if !reflect.DeepEqual(source[29*28*28:], last) {
		t.Error("the source's last image is not the last one drawn")
	}
	labels := make([]int64, 30)
	readArray(t, filepath.Join(folder, "source.npz"), "labels", labels)
	counts := make([]int, 10)
	for _, label := range labels {
		counts[label]++
	}
	if want := []int{2, 2, 2, 2, 2, 4, 4, 4, 4, 4}; !reflect.DeepEqual(counts, want) {
		t.Errorf("the source's classes have %v images, want %v", counts, want)
	}
	readArray(t, filepath.Join(folder, "target.npz"), "features", make([]float32, 40*28*28))
	readArray(t, filepath.Join(folder, "test.npz"), "features", make([]float32, 20*28*28))
	readArray(t, filepath.Join(folder, "test.npz"), "labels", make([]int64, 20))
}

// readArray reads the values of an array, which must be as many as there is room for.
func readArray(t *testing.T, path, name string, values any) {
	t.Helper()
	arrays, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer arrays.Close()
	file, err := arrays.Open(name + ".npy")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(content), "\n") // the header is one line
	if size := binary.Size(values); len(after) != size {
		t.Fatalf("%s has %d bytes, want %d", name, len(after), size)
	}
	if err := binary.Read(strings.NewReader(after), binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
}
