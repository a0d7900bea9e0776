package labelshift

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/datasets/table"
	"iwda/internal/faultydisk"
	"iwda/internal/wholefile"
)

// Whatever call fails while a part or predictions are written, the file is the former one or the new one, and no
// power cut leaves a part.
func TestFilesOnAFailingDisk(t *testing.T) {
	source, target := drawn(t, three, 30, 30)
	part, err := Count(source, target, table.Options{}, Settings{Replicas: 2}, 0)
	if err != nil {
		t.Fatal(err)
	}
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
		"sums": part.WriteOn, "p.csv": predictions, "p.npz": predictions, "p.parquet": predictions,
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

// Every byte of a part that is flipped, zeroed or the first one that is missing is noticed.
func TestEveryByteOfAPartCounts(t *testing.T) {
	source, target := drawn(t, three, 10, 10)
	p, err := Count(source, target, table.Options{}, Settings{Replicas: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sums")
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for how, damaged := range faultydisk.Damaged(whole, 1) {
		if _, err := readPart(bytes.NewReader(damaged), int64(len(damaged))); err == nil {
			t.Fatalf("%s of %d: %v", how, len(whole), err)
		}
		cases++
	}
	t.Logf("%d cases", cases)
}
