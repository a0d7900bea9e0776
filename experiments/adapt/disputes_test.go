package adapt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	if said := d.sentence(); !strings.Contains(said, "Of 4 rows 3 are in dispute") {
		t.Error(said)
	}
	path := filepath.Join(t.TempDir(), DisputedFile)
	take := d.take(8) // every other one was judged
	for i, id := range []string{"a", "", "b", "", "c", "", "d", ""} {
		take(id, []string{"cat", "", "cat", "", "dog", "", "dog", ""}[i], float64(i)/8)
	}
	if err := d.write(path, []string{"cat", "dog"}); err != nil {
		t.Fatal(err)
	}
	const want = "id,predicted_class,probability,mcc,source-only\nd,dog,0.75,cat,cat\nc,dog,0.5,cat,cat\nb,cat,0.25,dog,cat\n"
	if text, err := os.ReadFile(path); string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
	if said := newDisputes(2, []float64{1, 0}).sentence(); !strings.Contains(said, "All methods predict the same") {
		t.Error(said)
	}
}

// What a method assumes follows from its columns, its alignment and its weights.
func TestAssumes(t *testing.T) {
	for method, want := range map[string]string{
		"source-only": "columns mean the same in both domains",
		"mcc":         "columns mean the same in both domains; the target's classes lie apart; class shares are much alike",
		"iwcdan@own":  "columns may have moved or been stretched; classes look alike once the domains are aligned; class shares changed",
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
	if got := assumes(config.Resolved{Method: "source-only"}); got != "classes look alike in both domains" {
		t.Error(got)
	}
}
