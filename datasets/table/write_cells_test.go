package table

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/printable"
	"iwda/internal/testfiles"
)

// Ids and classes that are formulas come out of a file of predictions as they went in.
func TestPredictionsHoldNoFormulas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "predictions.csv")
	classes, ids := []string{"=cmd|'/C calc'!A0", "-1"}, []string{"@a", "'=b", "-7", "c"}
	_, err := WritePredictions(path, Predictions{Classes: classes, Probabilities: true}, func(add Add) error {
		for i, id := range ids {
			if err := add(id, []float32{float32(i) / 4, 1 - float32(i)/4}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text := testfiles.Read(t, path)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		for cell := range strings.SplitSeq(line, ",") {
			if printable.Cell(cell) != cell && cell[0] != '\'' {
				t.Errorf("the cell %q of %q is a formula", cell, line)
			}
		}
	}
	file, err := Open(path, Options{Kind: Probabilities})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var got []string
	for batch, err := range file.Batches(10) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.Len() {
			got = append(got, batch.ID(i))
		}
	}
	if !slices.Equal(got, ids) {
		t.Errorf("ids %q, want %q", got, ids)
	}
}
