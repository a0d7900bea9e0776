package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
)

var predicted = Predictions{Classes: []string{"cat, small", "dög"}, Probabilities: true}

// idOf is the id of row i: characters ü, or what a spreadsheet takes for a formula.
func idOf(i int) string {
	if i%9 > 5 {
		return []string{"=cmd|'/C calc'!A0", "@a", "'=b"}[i%9-6]
	}
	return strings.Repeat("ü", i%9)
}

// predictions writes n rows: the i-th has the id of its number and the probabilities
// (i/n, 1 - i/n).
func predictions(t testing.TB, name string, p Predictions, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	_, err := WritePredictions(path, p, func(add Add) error {
		row := make([]float32, 2)
		for i := range n {
			row[0] = float32(i) / float32(n)
			row[1] = 1 - row[0]
			if err := add(idOf(i), row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// What is written is read again, and nothing else is left in the folder. Formulas are quoted.
func TestPredictionsAreReadAgain(t *testing.T) {
	const n = 40000
	path := predictions(t, "out.csv", predicted, n)
	table := opened(t, file(path, Options{}))
	rows := must.Have(table.Load())(t)
	if rows.Kind() != Probabilities || rows.Len() != n || !slices.Equal(rows.ClassNames(), predicted.Classes) || table.HasLabels() {
		t.Errorf("%s of %d rows, classes %q", rows.Kind(), rows.Len(), rows.ClassNames())
	}
	row := make([]float32, 2)
	for i := range n {
		rows.CopyRow(row, i)
		if p := float32(i) / n; row[0] != p || row[1] != 1-p || rows.ID(i) != idOf(i) {
			t.Fatalf("row %d: %v, id %q", i, row, rows.ID(i))
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
	text := string(testfiles.Read(t, path))
	if strings.Count(text, "\n'") < n/4 || strings.Contains(text, "\n=") || strings.Contains(text, "\n@") {
		t.Error("formulas are not quoted")
	}
}

// An id of any length is read again.
func TestLongIDs(t *testing.T) {
	id, path := strings.Repeat("ü", maxText), filepath.Join(t.TempDir(), "out.csv")
	must.Have(WritePredictions(path, predicted, func(add Add) error { return add(id, []float32{1, 0}) }))(t)
	if rows, err := opened(t, file(path, Options{})).Load(); err != nil || rows.ID(0) != id {
		t.Error(err)
	}
}

// The class is the one of the largest probability, the first of two that are equal.
func TestPredictedClasses(t *testing.T) {
	few := Predictions{Classes: predicted.Classes}
	want := []string{"dög", "dög", "cat, small", "cat, small"} // (0, 1), (1/4, 3/4), (1/2, 1/2), (3/4, 1/4)
	content := testfiles.Read(t, predictions(t, "out.csv", few, 4))
	records, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil || len(records) != 5 || !slices.Equal(records[0], []string{"id", "predicted_class", "probability"}) {
		t.Fatalf("%v, %v", records, err)
	}
	for i, p := range []float32{1, 0.75, 0.5, 0.75} {
		if !slices.Equal(records[i+1], []string{strings.Repeat("ü", i), want[i], fmt.Sprint(p)}) {
			t.Errorf("line %d: %q", i, records[i+1])
		}
	}
}

// A prediction that fails leaves the former file, and no other.
func TestPredictionsThatFail(t *testing.T) {
	path := write(t, "out.csv", "former")
	for words, row := range map[string][]float32{
		"row 1: 3 probabilities for 2 classes":           {1, 0, 0},
		"row 1: the probability of class \"dög\" is NaN": {1, half(0x7e00)},
	} {
		_, err := WritePredictions(path, predicted, func(add Add) error {
			return errors.Join(add("a", []float32{1, 0}), add("b", row))
		})
		must.Fail(t, err, path, words)
	}
	own := errors.New("rows.csv:7: not a number")
	_, err := WritePredictions(path, predicted, func(add Add) error {
		return errors.Join(add("a", []float32{1, 0}), own)
	})
	if err == nil || err.Error() != own.Error() {
		t.Errorf("error %v, want that of the rows alone", err)
	}
	if content, err := os.ReadFile(path); string(content) != "former" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
	must.Fail(t, CheckTable("out.npz"), "out.npz: tables are written to .csv files")
}

// A disk that fails is said once, however much was still to be written.
func TestPredictionsOnAFullDisk(t *testing.T) {
	full := predicted
	full.Disk = &wholefile.Disk{Before: func(c *wholefile.Call) error {
		if c.Op != wholefile.OpWrite {
			return nil
		}
		c.Data = nil
		return syscall.ENOSPC
	}}
	_, err := WritePredictions(filepath.Join(t.TempDir(), "out.csv"), full, func(add Add) error {
		return add(strings.Repeat("a", 1<<12), []float32{1, 0})
	})
	if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), syscall.ENOSPC.Error()) != 1 {
		t.Error(err)
	}
}

// Sets are names; a name that would be read as two is an error.
func TestSetsOfClasses(t *testing.T) {
	sets := Predictions{Classes: []string{"cat, small", "dög"}, Sets: true}
	write := func(name string, p Predictions) (string, error) {
		path := filepath.Join(t.TempDir(), name)
		_, err := WritePredictions(path, p, func(add Add) error {
			return errors.Join(add("a", []float32{0.5, 0.5}, 0, 1), add("b", []float32{0.1, 0.9}, 1), add("c", []float32{0.4, 0.6}))
		})
		return path, err
	}
	path := must.Have(write("out.csv", sets))(t)
	var got []string
	if err := ReadText(path, func(columns []string) error {
		if i := slices.Index(columns, "set"); i != len(columns)-1 {
			t.Errorf("columns %q", columns)
		}
		return nil
	}, func(_ int, cells []string) error {
		got = append(got, cells[len(cells)-1])
		return nil
	}); err != nil || !slices.Equal(got, []string{"cat, small | dög", "dög", ""}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := write("out.csv", Predictions{Classes: []string{"a | b", "c"}, Sets: true}); err == nil || !strings.Contains(err.Error(), `class "a | b" has " | " in its name`) {
		t.Error(err)
	}
}
