package schedule

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// lockRun takes a run as another iwrun would.
func lockRun(t *testing.T, results string, run plan.Run) *store.Lock {
	t.Helper()
	lock := must.Have(run.Dir(results).Lock())(t)
	t.Cleanup(func() { lock.Close() })
	return lock
}

// TestHeldRuns: runs that others hold come last. What they finish counts as finished
// before, what they let go of is made.
func TestHeldRuns(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, succeeds, alsoSucceeds, describesItself)
	first, second := lockRun(t, results, runs[0]), lockRun(t, results, runs[1])
	var states []State
	waiting := 0
	options := makeOptions(t, results, func(u Update) {
		states = append(states, u.State)
		switch {
		case u.State == Waiting:
			if waiting++; !strings.HasPrefix(u.Reason, "held by another iwrun (pid ") {
				t.Errorf("reason %q", u.Reason)
			}
		case u.Run.ID.Seed == describesItself && u.State == Finished:
			resolved := runs[0].Config
			result := resultOf(resolved.Experiment, runs[0].ID, resolved.Hash())
			if err := runs[0].Dir(results).WriteResult(result); err != nil {
				t.Error(err)
			}
			first.Close()
			second.Close()
		}
	})
	summary := Run(t.Context(), runs, options)
	if got := seedsOf(summary.Skipped); !slices.Equal(got, []int64{succeeds}) {
		t.Errorf("skipped %v", got)
	}
	if got := seedsOf(summary.Finished); !slices.Equal(got, []int64{alsoSucceeds, describesItself}) {
		t.Errorf("finished %v", got)
	}
	if waiting != 2 || states[0] != Waiting || states[1] != Waiting && states[2] != Waiting {
		t.Errorf("states %v", states)
	}
}

// TestStopWhileWaiting: nobody waits for a held run once asked to stop.
func TestStopWhileWaiting(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, succeeds)
	lockRun(t, results, runs[0])
	ctx, cancel := context.WithCancel(t.Context())
	summary := Run(ctx, runs, makeOptions(t, results, func(Update) { cancel() }))
	if len(summary.Left) != 1 {
		t.Errorf("%+v", summary)
	}
}

// TestWorkerHoldsTheLock: while a worker lives, nobody else can take its run.
func TestWorkerHoldsTheLock(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, waitsForRelease)
	dir := runs[0].Dir(results)
	summary := Run(t.Context(), runs, makeOptions(t, results, func(u Update) {
		if u.State != Running {
			return
		}
		if _, err := dir.Lock(); !errors.Is(err, store.ErrLocked) {
			t.Errorf("locked twice: %v", err)
		}
		letGo(t, dir)
	}))
	if _, locked, err := dir.Locked(); locked || err != nil || len(summary.Finished) != 1 {
		t.Errorf("at the end: %v, %v, %+v", locked, err, summary)
	}
}

func letGo(t *testing.T, dir store.Dir) {
	t.Helper()
	if err := os.WriteFile(dir.Path(release), nil, 0o666); err != nil {
		t.Error(err)
	}
}

// TestDeletedFolder: a run whose folder is deleted ends, since another process may make
// it there; that one's files stay as they are.
func TestDeletedFolder(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, waitsForRelease)
	dir := runs[0].Dir(results)
	deleted := false
	options := makeOptions(t, results, func(u Update) {
		if u.State == Running && !deleted {
			deleted = true
			if err := os.RemoveAll(dir.String()); err != nil {
				t.Error(err)
			}
			lockRun(t, results, runs[0])
		}
	})
	options.Retries = 5
	summary := Run(t.Context(), runs, options)
	if len(summary.Failed) != 1 || summary.Failed[0].Attempts != 1 || !strings.Contains(summary.Failed[0].Reason, "folder was deleted") {
		t.Errorf("%+v", summary)
	}
	if entries, err := os.ReadDir(dir.String()); err != nil || len(entries) != 1 {
		t.Errorf("the other one's folder: %v, %v", entries, err)
	}
}

// TestOtherConfiguration: what another configuration gave is kept, unless told otherwise.
func TestOtherConfiguration(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, succeeds)
	dir := runs[0].Dir(results)
	options := makeOptions(t, results, func(Update) {})
	if summary := Run(t.Context(), runs, options); len(summary.Finished) != 1 {
		t.Fatalf("%+v", summary)
	}
	testfiles.Write(t, dir.Path(store.CheckpointFile), "checkpoint")
	runs[0].Config.Train.Epochs, runs[0].Config.Dataset.Root = 7, "/elsewhere"
	for _, lacking := range []string{"", store.ResultFile} { // the checkpoint is enough
		if lacking != "" {
			testfiles.Remove(t, dir.Path(lacking))
		}
		before := filesIn(t, dir)
		summary := Run(t.Context(), runs, options)
		if len(summary.Failed) != 1 {
			t.Fatalf("without %q: %+v", lacking, summary)
		}
		if log := summary.Failed[0].Log; log != "" {
			t.Errorf("without %q: the log of the former run, %s, says nothing of this", lacking, log)
		}
		reason := summary.Failed[0].Reason
		for _, part := range []string{dir.String(), "train.epochs: 70 there, 7 here\n", "--overwrite", "another folder with -o"} {
			if !strings.Contains(reason, part) {
				t.Errorf("without %q: %q is not in %q", lacking, part, reason)
			}
		}
		if strings.Contains(reason, "root") {
			t.Errorf("names what changes no result: %q", reason)
		}
		if diff := cmp.Diff(before, filesIn(t, dir)); diff != "" {
			t.Errorf("touched without %q: %s", lacking, diff)
		}
	}

	options.Overwrite = true
	summary := Run(t.Context(), runs, options)
	result, finished, err := dir.Finished(runs[0].Config.Hash())
	if len(summary.Finished) != 1 || !finished || err != nil || filesIn(t, dir)[store.CheckpointFile] != "" {
		t.Errorf("overwritten: %+v, %+v, %v", summary, result, err)
	}
	if log := logOf(results, runs[0]); log != "" {
		t.Errorf("the former log stays: %q", log)
	}
}

// TestBegunWithoutWork: a configuration in whose folder nothing was made may change.
func TestBegunWithoutWork(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, succeeds)
	dir := runs[0].Dir(results)
	must.Do(t, dir.Begin())
	must.Do(t, runs[0].WriteConfig(dir))
	runs[0].Config.Train.Epochs = 7
	if summary := Run(t.Context(), runs, makeOptions(t, results, func(Update) {})); len(summary.Finished) != 1 {
		t.Errorf("%+v", summary)
	}
}

// TestUnreadableConfiguration: work of unknown origin is kept too.
func TestUnreadableConfiguration(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, succeeds)
	dir := runs[0].Dir(results)
	must.Do(t, dir.Begin())
	testfiles.Write(t, dir.Path(store.CheckpointFile), "checkpoint")
	testfiles.Write(t, dir.Path(store.ConfigFile), "future: key\n")
	summary := Run(t.Context(), runs, makeOptions(t, results, func(Update) {}))
	if len(summary.Failed) != 1 || !strings.Contains(summary.Failed[0].Reason, `config.yaml:1:1: unknown key "future"`) {
		t.Errorf("%+v", summary)
	}
	if text := filesIn(t, dir)[store.CheckpointFile]; text != "checkpoint" {
		t.Errorf("the checkpoint is %q", text)
	}
}

// TestDevices: four runs at a time on two devices are two on each, and the next run
// takes the device that is free.
func TestDevices(t *testing.T) {
	results := t.TempDir()
	runs := makeRunsOf(t, []string{"dann", "cdan", "iwdan", "iwcdan", "jan"}, waitsForRelease)
	running := map[store.ID]bool{}
	options := makeOptions(t, results, func(u Update) {
		switch {
		case u.State == Running:
			if running[u.Run.ID] = true; len(running) == 4 && !running[runs[4].ID] {
				letGo(t, runs[1].Dir(results)) // its device is free then
			}
			if u.Run.ID == runs[4].ID {
				for _, run := range runs {
					letGo(t, run.Dir(results))
				}
			}
		}
	})
	options.Jobs, options.Devices = 4, []string{"cuda:0", "cuda:1"}
	if summary := Run(t.Context(), runs, options); len(summary.Finished) != 5 {
		t.Fatalf("%+v", summary)
	}
	counts := map[string]int{}
	device := func(run plan.Run) string { return strings.Fields(logOf(results, run))[1] }
	for _, run := range runs[:4] {
		counts[device(run)]++
	}
	if counts["cuda:0"] != 2 || counts["cuda:1"] != 2 {
		t.Errorf("first runs on %v", counts)
	}
	if freed, taken := device(runs[1]), device(runs[4]); freed != taken {
		t.Errorf("the fifth run was on %s, free was %s", taken, freed)
	}
}

// filesIn returns the contents of all files of a run's folder by their names.
func filesIn(t *testing.T, dir store.Dir) map[string]string {
	t.Helper()
	entries := must.Have(os.ReadDir(dir.String()))(t)
	files := map[string]string{}
	for _, entry := range entries {
		text := testfiles.Read(t, dir.Path(entry.Name()))
		files[entry.Name()] = string(text)
	}
	return files
}
