package store

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOptionalKeys: results of former versions, without the keys, stay readable, and
// the keys are checked where they are there.
func TestOptionalKeys(t *testing.T) {
	want := sampleResult("iwdan", 1)
	dir := begun(t, t.TempDir(), want.ID)
	if err := dir.WriteResult(want); err != nil {
		t.Fatal(err)
	}
	if text := read(t, dir.Path(ResultFile)); strings.Contains(text, "source_confusion") || strings.Contains(text, "machine") {
		t.Errorf("keys without a value are written:\n%s", text)
	}
	want.SourceConfusion, want.Machine = [][]int{{5, 0}, {1, 6}}, "a processor"
	if err := dir.WriteResult(want); err != nil {
		t.Fatal(err)
	}
	got, err := dir.ReadResult()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for message, confusion := range map[string][][]int{
		"source_confusion has 1 rows":         {{5, 0}},
		"source_confusion[1] has 1 columns":   {{5, 0}, {1}},
		"source_confusion[0][1] is -1, not a": {{5, -1}, {1, 6}},
	} {
		want.SourceConfusion = confusion
		if err := dir.WriteResult(want); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want %q", err, message)
		}
	}
}
