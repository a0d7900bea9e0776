package plan

import (
	"slices"
	"testing"

	"iwda/experiments/store"
)

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
