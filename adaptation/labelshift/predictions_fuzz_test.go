package labelshift

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"iwda/datasets/table"
	"iwda/internal/allocation"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// A file of predictions of any content is rows or an error, as a source and as a target.
func FuzzReadPredictions(f *testing.F) {
	type row struct {
		Label         string    `parquet:"label"`
		Probabilities []float32 `parquet:"probabilities,list"`
	}
	var seed bytes.Buffer
	must.Do(f, parquet.Write(&seed, []row{{"0", []float32{0.25, 0.75}}, {"1", []float32{1, 0}}}))
	extensions := []string{".parquet", ".csv", ".npz", ".npy"}
	f.Add(seed.Bytes(), uint8(0))
	f.Add([]byte("label,probability_a,probability_b\na,0.5,0.5\n"), uint8(1))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, form uint8) {
		path := filepath.Join(folder, "rows"+extensions[int(form)%len(extensions)])
		testfiles.Write(t, path, string(content))
		allocation.Within(t, allocation.Allowed(len(content)), func() {
			source, err := ReadSource(path, table.Options{})
			if err != nil {
				return
			}
			if source.Rows() != len(source.labels) {
				t.Errorf("%d rows with %d labels", source.Rows(), len(source.labels))
			}
			target, err := ReadTarget(path, table.Options{}, source)
			if err != nil || target.Rows() < source.Rows() {
				t.Errorf("a source is no target: %d rows of %d, %v", target.Rows(), source.Rows(), err)
			}
		})
	})
}
