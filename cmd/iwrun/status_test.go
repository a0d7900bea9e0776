package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/status"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// TestStatus sees a run in every state.
func TestStatus(t *testing.T) {
	inFolder(t)
	all := []string{"-c", "tiny.yaml", "--set", "methods=[source-only, dann, iwdan, cdan, jan]"}
	command := func(name string, more ...string) []string { return append(append([]string{name}, all...), more...) }
	want := "tiny: 5 runs: 0 finished, 5 left\n"
	if code, out, err := call(t, command("status")...); code != 0 || err != "" || !strings.HasPrefix(out, want) {
		t.Errorf("status %d, %q, stdout\n%s", code, err, out)
	}

	if code, _, err := call(t, append(all, "--index", "0")...); code != 0 { // source-only
		t.Fatal(err)
	}
	if code, _, err := call(t, append(all, "--only", "*/*/dann/*", "--set", "train.epochs=2")...); code != 0 {
		t.Fatal(err)
	}
	lock := must.Have(tinyDir("iwdan").Lock())(t)
	defer lock.Close()
	must.Do(t, tinyDir("iwdan").WriteMetrics([]store.Metrics{{Epoch: 0}, {Epoch: 1, Step: 10}}))
	testfiles.MakeFolder(t, tinyDir("cdan").String())
	must.Do(t, tinyDir("cdan").WriteFailure("no memory\nof any kind"))

	code, out, text := call(t, command("status")...)
	for _, line := range []string{
		`^tiny: 5 runs: 1 finished, 1 running, 1 failed, 1 left, 1 other$`,
		`^INDEX  RUN +STATE +EPOCH +CHECKPOINT +LAST CHANGE +BY$`,
		`^1 +subsampled/clean-warped/dann/seed-1 +other +2 of 1 +step [1-9][0-9]* +[0-9]+ s ago +pid [0-9]+, .+$`,
		`^2 +subsampled/clean-warped/iwdan/seed-1 +running +1 of 1 +- +[0-9]+ s ago +pid [0-9]+, .+$`,
		`^3 +subsampled/clean-warped/cdan/seed-1 +failed +0 of 1 +- +- +-$`,
		`^4 +subsampled/clean-warped/jan/seed-1 +left +0 of 1 +- +- +-$`,
		`^other: subsampled/clean-warped/dann/seed-1: train.epochs: 2 there, 1 here$`,
		`^failed: subsampled/clean-warped/cdan/seed-1: no memory$`,
		`^ +\| of any kind$`,
	} {
		if code != 0 || text != "" || !regexp.MustCompile("(?m)"+line).MatchString(out) {
			t.Errorf("status %d, stderr %q, no line %s in\n%s", code, text, line, out)
		}
	}
	if strings.Contains(out, "source-only") {
		t.Errorf("finished runs are listed:\n%s", out)
	}
	checkStatusJSON(t, command("status", "--format", "json"))

	// What can be known without labels of the target has columns where a run knows it.
	last := store.Metrics{Epoch: 1, Step: 10, ValidationAccuracy: store.Measured(0.875), Certainty: store.Measured(0.9375)}
	must.Do(t, tinyDir("iwdan").WriteMetrics([]store.Metrics{last}))
	_, out, _ = call(t, command("status")...)
	for _, line := range []string{
		`^INDEX  RUN +STATE +EPOCH +SOURCE ACCURACY +CERTAINTY +CHECKPOINT +LAST CHANGE +BY$`,
		`^2 +subsampled/clean-warped/iwdan/seed-1 +running +1 of 1 +87.50% +93.75% +- `,
		`^4 +subsampled/clean-warped/jan/seed-1 +left +0 of 1 +- +- +- `,
	} {
		if !regexp.MustCompile("(?m)" + line).MatchString(out) {
			t.Errorf("no line %s in\n%s", line, out)
		}
	}
}

func checkStatusJSON(t *testing.T, command []string) {
	t.Helper()
	states := func(more ...string) map[int]status.State {
		code, out, text := call(t, append(command, more...)...)
		var got struct {
			Experiment string
			Counts     map[status.State]int
			Runs       []status.Run
		}
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || got.Experiment != "tiny" {
			t.Fatalf("status %d, %v, %q, stdout\n%s", code, err, text, out)
		}
		states := map[int]status.State{}
		for _, run := range got.Runs {
			if (run.Progress == nil) != (run.State == status.Finished) {
				t.Errorf("%s: %s, with progress %+v", run.ID, run.State, run.Progress)
			}
			states[run.Index] = run.State
			got.Counts[run.State]--
		}
		for state, n := range got.Counts {
			if n != 0 {
				t.Errorf("%s is counted %d times too often", state, n)
			}
		}
		return states
	}
	all := map[int]status.State{0: status.Finished, 1: status.Other, 2: status.Running, 3: status.Failed, 4: status.Left}
	if diff := cmp.Diff(all, states()); diff != "" {
		t.Error(diff)
	}
	// Positions are those of the whole plan.
	if diff := cmp.Diff(map[int]status.State{3: status.Failed}, states("--only", "*/*/cdan/*")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[int]status.State{4: status.Left}, states("--index", "4")); diff != "" {
		t.Error(diff)
	}
}
