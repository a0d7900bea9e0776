package datasets

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/maruel/safetensors"
	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"
)

func newFeatures(t testing.TB, values []float32, labels []int, classes ...string) *Features {
	t.Helper()
	set, err := NewFeatures("made", values, KnownLabels(labels), classes)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func npzOf(t testing.TB, set Set) []byte {
	t.Helper()
	var buffer bytes.Buffer
	if err := WriteFeatures(&buffer, set); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func TestFeaturesInEveryForm(t *testing.T) {
	root := t.TempDir()
	source := newFeatures(t, []float32{1, 2, 3, 4, 5, 6}, []int{0, 2, 1}, "a", "b", "c")
	write(t, filepath.Join(root, "clip.npz"), npzOf(t, source))

	var values, labels bytes.Buffer
	if err := npyio.Write(&values, mat.NewDense(2, 2, []float64{7, 8, 9, 10})); err != nil {
		t.Fatal(err)
	}
	if err := npyio.Write(&labels, []int64{3, 0}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "dino-features.npy"), values.Bytes())
	write(t, filepath.Join(root, "dino-labels.npy"), labels.Bytes())

	clip, err := ReadFeatures(root, "clip")
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, 2)
	clip.CopyRow(row, 1)
	if !slices.Equal(row, []float32{3, 4}) || clip.labels.classes[1] != 2 || clip.Len() != 3 || !slices.Equal(clip.ClassNames(), []string{"0", "1", "2"}) {
		t.Errorf(".npz: row %v, label %d of %v", row, clip.labels.classes[1], clip.ClassNames())
	}
	dino, err := ReadFeatures(root, "dino")
	if err != nil {
		t.Fatal(err)
	}
	dino.CopyRow(row, 1)
	if !slices.Equal(row, []float32{9, 10}) || dino.labels.classes[0] != 3 || len(dino.ClassNames()) != 4 {
		t.Errorf(".npy: row %v, label %d of %v", row, dino.labels.classes[0], dino.ClassNames())
	}

	var buffer bytes.Buffer
	file := safetensors.File{Tensors: []safetensors.Tensor{
		{Name: "features", DType: safetensors.F32, Shape: []uint64{1, 2}, Data: []byte{0, 0, 128, 63, 0, 0, 0, 64}},
		{Name: "labels", DType: safetensors.I64, Shape: []uint64{1}, Data: []byte{1, 0, 0, 0, 0, 0, 0, 0}},
	}}
	if err := file.Serialize(&buffer); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "dino-test.safetensors"), buffer.Bytes())
	test, err := ReadFeatures(root, "dino-test")
	if err != nil {
		t.Fatal(err)
	}
	test.CopyRow(row, 0)
	if !slices.Equal(row, []float32{1, 2}) || test.labels.classes[0] != 1 {
		t.Errorf(".safetensors: row %v, label %d", row, test.labels.classes[0])
	}
}

// Labels are the places of names where the file has some.
func TestFeaturesWithNamesOfClasses(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a.npz"), zipOf(t, map[string][]byte{
		"features":    npyOf("<f4", "(3, 1)", make([]byte, 12)),
		"labels":      npyOf("|u1", "(3,)", []byte{2, 0, 2}),
		"class_names": npyOf("|S1", "(3,)", []byte("zya")),
	}))
	set, err := ReadFeatures(root, "a")
	if err != nil || !slices.Equal(set.labels.Classes(), []int{2, 0, 2}) {
		t.Errorf("set %+v, %v", set, err)
	}
}

func TestFeatureFilesThatAreWrong(t *testing.T) {
	root := t.TempDir()
	good := newFeatures(t, []float32{1, 2, 3, 4}, []int{0, 1}, "a", "b")
	write(t, filepath.Join(root, "good.npz"), npzOf(t, good))
	write(t, filepath.Join(root, "cut.npz"), npzOf(t, good)[:100])
	write(t, filepath.Join(root, "text.npz"), []byte("no archive"))
	write(t, filepath.Join(root, "text.safetensors"), []byte("no tensors"))
	var wrong bytes.Buffer
	if err := npyio.Write(&wrong, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "flat-features.npy"), wrong.Bytes())
	write(t, filepath.Join(root, "flat-labels.npy"), wrong.Bytes())
	for domain, want := range map[string]string{
		"cut": "cut.npz", "text": "not a whole", "flat": "rows × values", "absent": "absent.npz", "../good": "not the name of a file",
	} {
		_, err := ReadFeatures(root, domain)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", domain, err, want)
		}
	}
	if _, err := ReadFeatures(root, "absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	for _, c := range []struct {
		values []float32
		labels []int
		want   string
	}{
		{[]float32{1, float32(math.NaN())}, []int{0}, "column 1"},
		{[]float32{1, 2}, []int{1}, "label 1"},
		{[]float32{1, 2, 3}, []int{0, 0}, "no rows"},
		{nil, nil, "no rows"},
	} {
		if _, err := NewFeatures("x", c.values, KnownLabels(c.labels), []string{"a"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
