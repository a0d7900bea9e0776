package adapt

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/experiments/config"
)

// Rows on which most methods say otherwise than the predictions come first, and of these the
// least certain; they are named by the ids of the predictions.
func TestDisputes(t *testing.T) {
	d := newDisputes(2, []float64{0.9, 0.1, 0.6, 0.4, 0.2, 0.8, 0.3, 0.7})
	d.add("mcc", "this", 2, []float64{1, 0, 0, 1, 1, 0, 1, 0})
	d.add("source-only", "that", 2, []float64{1, 0, 1, 0, 1, 0, 1, 0})
	d.rank()
	if want := []int{3, 2, 1}; !slices.Equal(d.rows, want) {
		t.Errorf("rows %v, want %v", d.rows, want)
	}
	if d.methods[0] != "mcc" || d.assumed[0] != "this" || d.changed[0] != 0.75 {
		t.Errorf("%q, which assumes %q, changes %v", d.methods, d.assumed, d.changed)
	}
	if said := d.sentence(); !strings.Contains(said, "On 3 of 4 rows the methods, which assume different things, predict different classes.") {
		t.Error(said)
	}
	path := filepath.Join(t.TempDir(), names.Disputed)
	take := d.take([]int{0, 3, 4, 7}) // of eight rows
	for i, id := range []string{"a", "", "", "b", "c", "", "", "d"} {
		take(id, []string{"cat", "", "", "cat", "dog", "", "", "dog"}[i], float64(i)/8)
	}
	if err := d.write(path, []string{"cat", "dog"}); err != nil {
		t.Fatal(err)
	}
	const want = "id,predicted_class,probability,mcc,source-only\nd,dog,0.875,cat,cat\nc,dog,0.5,cat,cat\nb,cat,0.375,dog,cat\n"
	if text, err := os.ReadFile(path); string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
	if said := newDisputes(2, []float64{1, 0}).sentence(); !strings.Contains(said, "All methods predict the same classes") {
		t.Error(said)
	}
}

// Of a target with more rows than runs are judged by, the rows in dispute are named as predictions.csv
// names them, with what it says of them.
func TestDisputesOfManyRows(t *testing.T) {
	source, target := overlapping(t, 12_000)
	folder := filepath.Join(t.TempDir(), "out")
	set := []string{"methods=[source-only@linear, iwdan]", "seeds=[1]", "train.epochs=2", "network.features=8"}
	if _, err := runHere(context.Background(), source, target, Options{Folder: folder, Set: set}); err != nil {
		t.Fatal(err)
	}
	predicted := map[string][]string{} // by id
	for _, line := range lines(t, filepath.Join(folder, names.Predictions))[1:] {
		id, rest, _ := strings.Cut(line, ",")
		predicted[id] = strings.Split(rest, ",")[:2]
	}
	disputed := lines(t, filepath.Join(folder, names.Disputed))[1:]
	if len(disputed) == 0 {
		t.Fatal("nothing is in dispute")
	}
	for _, line := range disputed {
		cells := strings.Split(line, ",")
		if !slices.Equal(cells[1:3], predicted[cells[0]]) || !slices.ContainsFunc(cells[3:], func(class string) bool { return class != cells[1] }) {
			t.Errorf("%q, and %s has %q", line, names.Predictions, predicted[cells[0]])
		}
	}
}

// What a method assumes follows from its columns, its alignment and its weights.
func TestAssumes(t *testing.T) {
	for method, want := range map[string]string{
		"source-only": "columns mean the same in both domains",
		"mcc":         "columns mean the same in both domains; the target's classes are well separated; class shares are similar",
		"iwcdan@own":  "columns may have moved or been stretched; each class looks the same after alignment; class shares may differ",
	} {
		var run config.Resolved
		run.Method, run.Network.Normalise = method, "source"
		if strings.HasSuffix(method, "@own") {
			run.Network.Normalise = "standard"
		}
		if got := assumes(run); got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
	if got := assumes(config.Resolved{Method: "source-only"}); got != "each class looks the same in both domains" {
		t.Error(got)
	}
}
