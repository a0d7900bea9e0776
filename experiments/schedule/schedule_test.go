package schedule

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// asParent makes the test program a parent; its value is the results folder.
const asParent = "SCHEDULE_TEST_PARENT"

func makeRuns(t *testing.T, seeds ...int) []plan.Run {
	t.Helper()
	return makeRunsOf(t, []string{"dann"}, seeds...)
}

func makeRunsOf(t *testing.T, methods []string, seeds ...int) []plan.Run {
	t.Helper()
	text := fmt.Sprintf("{experiment: test, dataset: {name: glyphs}, tasks: [clean-warped], variants: [full], methods: [%s], seeds: [%s]}",
		strings.Join(methods, ", "), strings.Trim(strings.ReplaceAll(fmt.Sprint(seeds), " ", ", "), "[]"))
	file := must.Have(config.Parse("test.yaml", []byte(text)))(t)
	return must.Have(plan.Runs(file))(t)
}

func makeOptions(t *testing.T, results string, observe func(Update)) Options {
	t.Helper()
	t.Setenv(asWorker, "yes")
	program := must.Have(os.Executable())(t)
	return Options{
		Command: func(_ plan.Run, device string) []string { return []string{program, "worker", device} }, Results: results,
		Jobs: 2, Devices: []string{"cpu"}, Threads: 3, Observe: observe,
	}
}

// logOf returns the log of a run, nothing while there is none.
func logOf(results string, run plan.Run) string {
	text, _ := os.ReadFile(run.Dir(results).Path(store.LogFile))
	return string(text)
}

func seedsOf(runs []plan.Run) []int64 {
	var seeds []int64
	for _, run := range runs {
		seeds = append(seeds, run.ID.Seed)
	}
	return seeds
}

func TestRunFinishesAndSkips(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, alsoSucceeds, succeeds)
	updates := map[int64][]Update{}
	observe := func(u Update) { updates[u.Run.ID.Seed] = append(updates[u.Run.ID.Seed], u) }
	summary := Run(t.Context(), runs, makeOptions(t, results, observe))
	if got := seedsOf(summary.Finished); !cmp.Equal(got, []int64{alsoSucceeds, succeeds}) {
		t.Errorf("finished %v of %+v", got, summary)
	}
	for _, run := range runs {
		u := updates[run.ID.Seed]
		if len(u) != 4 || u[0].State != Started || u[1].State != Running || u[2].State != Running || u[3].State != Finished {
			t.Fatalf("%v: updates %+v", run.ID, u)
		}
		want := plan.Progress{Step: 5, Steps: 20}
		if diff := cmp.Diff(want, u[1].Progress); diff != "" {
			t.Error(diff)
		}
		want = plan.Progress{Step: 20, Steps: 20}
		if u[2].Progress != want || u[3].Result.LastAccuracy.Value != 0.25 || u[3].Run.ID != run.ID {
			t.Errorf("%v: updates %+v", run.ID, u)
		}
		if f := u[1].Progress.Fraction(); f != 0.25 {
			t.Errorf("fraction %v", f)
		}
	}

	clear(updates)
	summary = Run(t.Context(), makeRuns(t, succeeds, alsoSucceeds), makeOptions(t, results, observe))
	if got := seedsOf(summary.Skipped); !cmp.Equal(got, []int64{succeeds, alsoSucceeds}) || len(summary.Finished) != 0 {
		t.Errorf("second time: %+v", summary)
	}
	if u := updates[succeeds]; len(u) != 1 || u[0].State != Skipped || u[0].Result.BestAccuracy.Value != 0.5 {
		t.Errorf("updates %+v", u)
	}

	testfiles.Write(t, runs[1].Dir(results).Path(store.ResultFile), "{")
	summary = Run(t.Context(), runs, makeOptions(t, results, func(Update) {}))
	if got := seedsOf(summary.Finished); !cmp.Equal(got, []int64{succeeds}) {
		t.Errorf("with a broken result: %+v", summary)
	}
}

// Runs that may not be needed begin when the first has ended, well or not, and are asked for; they come after those of
// which it is sure. What was finished before is left as it is.
func TestRunsThatMayNotBeNeeded(t *testing.T) {
	for _, first := range []int{succeeds, fails} {
		results := t.TempDir()
		runs := makeRuns(t, first, alsoSucceeds, printsGarbage, saysNothing)
		ended := false
		options := makeOptions(t, results, func(u Update) {
			if u.Run.ID == runs[0].ID {
				ended = ended || u.State == Finished || u.State == Failed
			}
			if u.Undecided && u.State == Started && slices.ContainsFunc(runs[2:], func(r plan.Run) bool { return r.ID == u.Run.ID }) {
				t.Errorf("%v begins, and it is not known whether it is needed", u.Run.ID)
			}
		})
		options.Sure, options.Needed = 2, func(run plan.Run) bool {
			if !ended {
				t.Error("asked before the first run has ended")
			}
			return run.ID == runs[2].ID
		}
		summary := Run(t.Context(), runs, options)
		if made := len(summary.Finished) + len(summary.Failed); made != 3 || len(summary.Left) > 0 || summary.Undecided || slices.Contains(seedsOf(summary.Finished), saysNothing) {
			t.Errorf("%+v", summary)
		}
		if _, err := os.Stat(runs[3].Dir(results).String()); err == nil {
			t.Error("a run that was not needed has a folder")
		}
		again := Run(t.Context(), runs, options)
		if len(again.Skipped) != len(summary.Finished) || len(again.Left) > 0 {
			t.Errorf("again: %+v", again)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	options := makeOptions(t, t.TempDir(), func(Update) {})
	options.Sure, options.Needed = 1, func(plan.Run) bool { return false }
	if said := Run(cancelled, makeRuns(t, succeeds, alsoSucceeds), options).Stopped(); said != "Stopped: 0 of at most 2 runs are finished." {
		t.Error(said)
	}
}

// TestFailures: every way to fail is described, and none stops the other runs.
func TestFailures(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, fails, exits, panics, aborts, isKilled, saysNothing, printsGarbage, succeeds)
	summary := Run(t.Context(), runs, makeOptions(t, results, func(Update) {}))
	if got := seedsOf(summary.Finished); !cmp.Equal(got, []int64{printsGarbage, succeeds}) {
		t.Errorf("finished %v", got)
	}
	want := map[int64]string{
		fails:       "the loss is not a number",
		exits:       "the worker ended with exit status 7\ntwo\nthree\nfour\nfive\nsix",
		panics:      "the worker ended with exit status 2\npanic: in the worker\ngoroutine 1",
		aborts:      "\nterminate called after throwing",
		isKilled:    "the worker was killed (signal 9)",
		saysNothing: "the worker ended without a result",
	}
	if len(summary.Failed) != len(want) {
		t.Errorf("failures %+v", summary.Failed)
	}
	for _, failure := range summary.Failed {
		if got := failure.Error(); !strings.Contains(got, want[failure.Run.ID.Seed]) || strings.Contains(got, "before") {
			t.Errorf("seed %d: %q", failure.Run.ID.Seed, got)
		}
		dir := failure.Run.Dir(results)
		if failure.Log != dir.Path(store.LogFile) {
			t.Errorf("log %s", failure.Log)
		}
		if message, failed, err := dir.ReadFailure(); !failed || err != nil || message != failure.Error() {
			t.Errorf("error.txt %q, %v, %v", message, failed, err)
		}
	}
	garbage := "libwhatever 1.0\n{\"event\":\"party\"}\n" + strings.Repeat("x", 3*lineBuffer) + "\n[1,2\n"
	if diff := cmp.Diff(garbage, logOf(results, runs[6])); diff != "" {
		t.Error(diff)
	}
}

func TestDeathBySignal(t *testing.T) {
	for signal, want := range map[string]string{
		"KILL": "the worker was killed (signal 9), as the system does when memory runs out",
		"SEGV": "the worker died of signal 11 (segmentation fault)",
	} {
		command := exec.Command("sh", "-c", "kill -"+signal+" $$")
		command.Run()
		if got := describe(command.ProcessState); got != want {
			t.Errorf("%s: %q", signal, got)
		}
	}
}

func TestWorkerSurroundings(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, describesItself)
	if summary := Run(t.Context(), runs, makeOptions(t, results, func(Update) {})); len(summary.Finished) != 1 {
		t.Fatalf("%+v", summary)
	}
	want := "worker cpu\nOMP_NUM_THREADS 3 MKL_NUM_THREADS 3\nown group true\n"
	if diff := cmp.Diff(want, logOf(results, runs[0])); diff != "" {
		t.Error(diff)
	}
	again, err := config.LoadRun(runs[0].Dir(results).Path(store.ConfigFile))
	if err != nil || again.Hash() != runs[0].Config.Hash() {
		t.Errorf("config.yaml is of another run: %v", err)
	}
}

func TestStop(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, stopsWhenAsked, dies, succeeds, alsoSucceeds)
	ctx, cancel := context.WithCancel(t.Context())
	running := 0
	summary := Run(ctx, runs, makeOptions(t, results, func(u Update) {
		if u.State == Running {
			if running++; running == 2 {
				cancel()
			}
		}
	}))
	if got := seedsOf(summary.Left); !cmp.Equal(got, []int64{stopsWhenAsked, succeeds, alsoSucceeds}) {
		t.Errorf("left %v of %+v", got, summary)
	}
	if len(summary.Failed) != 1 || summary.Failed[0].Run.ID.Seed != dies {
		t.Errorf("failed %+v", summary.Failed)
	}
	stopped := runs[0].Dir(results)
	if text, err := os.ReadFile(stopped.Path(store.MetricsFile)); string(text) != "so far" {
		t.Errorf("metrics %q, %v", text, err)
	}
	if _, failed, err := stopped.ReadFailure(); failed || err != nil {
		t.Errorf("a stopped run counts as failed: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(runs[2].Dir(results).String()) + "/seed-1"); !os.IsNotExist(err) {
		t.Errorf("a run started after the stop: %v", err)
	}
}

// One reason of many runs is told once.
func TestSameReason(t *testing.T) {
	runs := makeRuns(t, dies, succeeds)
	var said strings.Builder
	Summary{Failed: []Failure{{Run: runs[0], Reason: "no room"}, {Run: runs[1], Reason: "no room"}}}.Print(&said)
	if text := said.String(); strings.Count(text, "no room") != 1 || !strings.Contains(text, fmt.Sprintf("failed: %v: for the reason of %v\n", runs[1].ID, runs[0].ID)) {
		t.Error(text)
	}
}

func TestKill(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, ignoresStop)
	ctx, cancel := context.WithCancel(t.Context())
	kill := make(chan struct{})
	options := makeOptions(t, results, func(u Update) {
		if u.State == Running {
			cancel()
		}
	})
	options.Kill = kill
	go func() {
		defer close(kill)
		waitFor(t, func() bool { return strings.Contains(logOf(results, runs[0]), "ignored") })
	}()
	summary := Run(ctx, runs, options)
	if len(summary.Left) != 1 || len(summary.Failed) != 0 || !strings.Contains(logOf(results, runs[0]), "ignored") {
		t.Errorf("%+v", summary)
	}
}

// TestParentDies kills a parent and expects that its worker notices.
func TestParentDies(t *testing.T) {
	runs := makeRuns(t, waitsForParent)
	if results := os.Getenv(asParent); results != "" {
		Run(t.Context(), runs, makeOptions(t, results, func(Update) {}))
		return
	}
	results := t.TempDir()
	program := must.Have(os.Executable())(t)
	parent := exec.Command(program, "-test.run=^TestParentDies$")
	parent.Env = append(os.Environ(), asParent+"="+results)
	must.Do(t, parent.Start())
	waitFor(t, func() bool { return strings.Contains(logOf(results, runs[0]), "waiting") })
	parent.Process.Kill()
	parent.Wait()
	waitFor(t, func() bool {
		_, err := os.Stat(runs[0].Dir(results).Path("orphan"))
		return err == nil
	})
}

// waitFor returns once the condition holds. It is for what another process does.
func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for range 3000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("waited in vain")
}

func TestRunsThatCannotStart(t *testing.T) {
	results := filepath.Join(t.TempDir(), "file")
	testfiles.Write(t, results, "")
	summary := Run(t.Context(), makeRuns(t, succeeds), makeOptions(t, results, func(Update) {}))
	if len(summary.Failed) != 1 || !strings.Contains(summary.Failed[0].Reason, results) {
		t.Errorf("with a file for a folder: %+v", summary)
	}
	options := makeOptions(t, t.TempDir(), func(Update) {})
	options.Command, options.Retries = func(plan.Run, string) []string { return []string{"/nowhere/iwrun"} }, 1
	summary = Run(t.Context(), makeRuns(t, succeeds), options)
	if len(summary.Failed) != 1 || !strings.Contains(summary.Failed[0].Reason, "cannot start a worker: fork/exec /nowhere/iwrun") || summary.Failed[0].Attempts != 2 {
		t.Errorf("without a program: %+v", summary)
	}
}
