package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Tables and figures have a column a class: runs whose classes differ from those of the first of
// their task are left out, and said.
func TestRunsOfOtherClasses(t *testing.T) {
	root, file := t.TempDir(), load(t, experiment)
	finish := func(i int, classes ...string) string {
		run := plan(t)[i]
		dir, zeros := run.Dir(root), make([]float64, len(classes))
		must.Do(t, dir.Begin())
		must.Do(t, dir.WriteResult(store.Result{
			ID: run.ID.String(), Experiment: "digits", Variant: run.ID.Variant, Task: run.ID.Task, Method: run.ID.Method, Seed: run.ID.Seed,
			ConfigHash: run.Config.Hash(), Classes: classes, Weights: zeros, LabelDistributions: store.LabelDistributions{Source: zeros},
		}))
		return run.ID.String()
	}
	first, other, same, otherTask := finish(0, "a", "b"), finish(3, "a", "b", "c"), finish(1, "a", "b"), finish(4, "c")
	found, err := Find(file, root)
	var got []string
	for _, run := range found.Runs {
		got = append(got, run.Result.ID)
	}
	if want := []string{first, same, otherTask}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %q; want %q", err, got, want)
	}
	if notes := strings.Join(found.Notes, " "); !strings.Contains(notes, other+" (unlike "+first+")") || !strings.Contains(notes, "remove the folder") {
		t.Errorf("notes %q", notes)
	}
}

// A result that cannot be read, or is another run's, is left out with a note.
func TestRunsWithoutResults(t *testing.T) {
	root, file, runs := t.TempDir(), load(t, experiment), plan(t)
	for i, text := range []string{"", "{", `{"id": "full/mnist-usps/dann/seed-9"}`} {
		dir := runs[i].Dir(root)
		must.Do(t, dir.Begin())
		if text != "" {
			testfiles.Write(t, dir.Path(store.ResultFile), text)
		}
	}
	found, err := Find(file, root)
	if !errors.Is(err, ErrNothingFinished) || len(found.Notes) != 2 {
		t.Fatalf("%v, notes %q", err, found.Notes)
	}
	for i, note := range found.Notes {
		if !strings.HasPrefix(note, "Left out, because its result cannot be read: "+runs[i+1].Dir(root).Path(store.ResultFile)) {
			t.Error(note)
		}
	}
}

func TestRunsOnDifferentData(t *testing.T) {
	run := func(method string, seed int64, sum string) store.Run {
		return store.Run{Result: store.Result{
			ID: store.ID{Variant: "full", Task: "a-b", Method: method, Seed: seed}.String(), Variant: "full", Task: "a-b", Method: method, Seed: seed, DataSHA256: sum,
		}}
	}
	runs := []store.Run{
		run("dann", 1, "x"), run("iwdan", 1, "y"), run("cdan", 1, ""),
		run("dann", 2, "z"), run("iwdan", 2, "z"), run("cdan", 2, ""),
	}
	want := []string{"full/a-b/dann/seed-1", "full/a-b/iwdan/seed-1", "full/a-b/cdan/seed-1"}
	if got := onDifferentData(runs); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := onDifferentData(runs[3:]); len(got) > 0 {
		t.Errorf("got %q of runs on the same data", got)
	}
}
