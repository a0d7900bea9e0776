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
	if len(found.Problems) > 0 {
		t.Errorf("problems %v", found.Problems)
	}
	if notes := strings.Join(found.Notes, " "); !strings.Contains(notes, other+" (unlike "+first+")") || !strings.Contains(notes, "remove the folder") {
		t.Errorf("notes %q", notes)
	}
}

// A run that has begun and has no result, or none that is its own, is a problem in words.
func TestRunsWithoutResults(t *testing.T) {
	root, file, runs := t.TempDir(), load(t, experiment), plan(t)
	var want []store.Problem
	for i, p := range []store.Problem{
		{Kind: store.Incomplete, Message: "no result.json yet"}, {Kind: store.Failed, Message: "no memory"}, {Kind: store.Unreadable}, {Kind: store.Unreadable},
	} {
		dir := runs[i].Dir(root)
		must.Do(t, dir.Begin())
		switch i {
		case 1:
			must.Do(t, dir.WriteFailure("no memory"))
		case 2:
			testfiles.Write(t, dir.Path(store.ResultFile), "{")
		case 3: // that of another run
			testfiles.Write(t, dir.Path(store.ResultFile), `{"id": "full/mnist-usps/dann/seed-9"}`)
		}
		p.Path = dir.String()
		want = append(want, p)
	}
	found, err := Find(file, root)
	if !errors.Is(err, ErrNothingFinished) || len(found.Problems) != len(want) {
		t.Fatalf("%v, problems %v", err, found.Problems)
	}
	for i, p := range found.Problems {
		if p.Path != want[i].Path || p.Kind != want[i].Kind || p.Message == "" || want[i].Message != "" && p.Message != want[i].Message {
			t.Errorf("%v, want %v", p, want[i])
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
