package adapt

import (
	"slices"
	"testing"

	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/nets/architecture"
)

func TestLongestFirst(t *testing.T) {
	var runs []plan.Run
	for _, method := range []string{"source-only", "source-only@forest", "iwdan", "iwcdan"} {
		for seed := range int64(2) {
			run := plan.Run{ID: store.ID{Method: method, Seed: seed}}
			if method == "source-only@forest" {
				run.Config.Network.Name = string(architecture.Forest)
			}
			runs = append(runs, run)
		}
	}
	var got []string
	for _, run := range longestFirst(runs) {
		got = append(got, run.ID.Method)
	}
	if want := []string{"source-only@forest", "source-only@forest", "iwcdan", "iwcdan", "iwdan", "iwdan", "source-only", "source-only"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	if runs[0].ID.Method != "source-only" {
		t.Error("the runs that were given have another order")
	}
}
