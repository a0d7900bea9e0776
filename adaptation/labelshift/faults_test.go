package labelshift

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/datasets/table"
	"iwda/internal/faultydisk"
	"iwda/internal/wholefile"
)

// Whatever call fails while predictions are written, the file is the former one or the new one, and no
// power cut leaves a part.
func TestFilesOnAFailingDisk(t *testing.T) {
	predictions := func(disk *wholefile.Disk, path string) error {
		what := table.Predictions{Classes: []string{"cat", "dog"}, Probabilities: true, Disk: disk}
		_, err := table.WritePredictions(path, what, func(add table.Add) error {
			for i := range 5000 {
				if err := add(strings.Repeat("x", i%7), []float32{float32(i) / 5000, 1 - float32(i)/5000}); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	}
	for name, write := range map[string]func(disk *wholefile.Disk, path string) error{
		"p.csv": predictions, "p.parquet": predictions,
	} {
		t.Run(name, func(t *testing.T) {
			place := filepath.Join(t.TempDir(), name)
			if err := write(nil, place); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(place)
			if err != nil {
				t.Fatal(err)
			}
			faultydisk.EachCall(func(disk *wholefile.Disk, fault string) {
				path := filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(path, []byte("former"), 0o666); err != nil {
					t.Fatal(err)
				}
				err := write(disk, path)
				if err != nil && !strings.Contains(err.Error(), path) {
					t.Errorf("%s: the error names no file: %v", fault, err)
				}
				got, readErr := os.ReadFile(path)
				if readErr != nil || string(got) != string(whole) && (err == nil || string(got) != "former") {
					t.Errorf("%s: error %v, then %d bytes, %v", fault, err, len(got), readErr)
				}
			})
			disk, broken := faultydisk.Ordered()
			if err := errors.Join(write(disk, place), broken()); err != nil {
				t.Error(err)
			}
		})
	}
}
