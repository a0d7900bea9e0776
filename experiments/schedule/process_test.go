package schedule

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"iwda/experiments/plan"
)

// sharing are the options of one worker for all runs.
func sharing(t *testing.T, results string, runs []plan.Run, observe func(Update)) Options {
	options := makeOptions(t, results, observe)
	options.Jobs, options.PerProcess = len(runs), len(runs)
	return options
}

// processIn returns the process that the last worker of a run named in its log.
func processIn(results string, run plan.Run) string {
	lines := strings.Split(logOf(results, run), "\n")
	for _, line := range slices.Backward(lines) {
		if process, ok := strings.CutPrefix(line, "process "); ok {
			return process
		}
	}
	return ""
}

// Runs of one process each have their end, their reason and their log.
func TestRunsOfOneProcess(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, succeeds, fails, reportsUntilReleased, alsoReportsUntilReleased)
	seen := map[int64]bool{}
	options := sharing(t, results, runs, func(u Update) {
		if seed := u.Run.ID.Seed; u.State == Running && u.Progress.Step == 6 && !seen[seed] {
			seen[seed] = true
			if len(seen) == 2 { // both are being made
				letGo(t, runs[2].Dir(results))
				letGo(t, runs[3].Dir(results))
			}
		}
	})
	summary := Run(t.Context(), runs, options)
	if got := seedsOf(summary.Finished); !slices.Equal(got, []int64{succeeds, reportsUntilReleased, alsoReportsUntilReleased}) {
		t.Errorf("finished %v of %+v", got, summary)
	}
	if len(summary.Failed) != 1 || summary.Failed[0].Reason != "the loss is not a number" || summary.Failed[0].Attempts != 1 {
		t.Errorf("failed %+v", summary.Failed)
	}
	first, second := processIn(results, runs[2]), processIn(results, runs[3])
	if first == "" || first != second {
		t.Errorf("processes %q and %q", first, second)
	}
	if log := logOf(results, runs[0]); log != "" {
		t.Errorf("the log of a run that says nothing: %q", log)
	}
}

// A run that takes its process with it does so once: the others go on in processes of
// their own, as it does.
func TestSharedProcessDies(t *testing.T) {
	for name, test := range map[string]struct {
		seed   int64
		reason string // of the others
	}{
		"a panic": {diesOnce, "the worker ended with exit status 2"},
		"a hang":  {hangs, "the worker was ended for another run that it made, "},
	} {
		t.Run(name, func(t *testing.T) {
			results := t.TempDir()
			runs := makeRuns(t, int(test.seed), reportsUntilReleased, alsoReportsUntilReleased)
			reasons := map[int64]string{}
			options := sharing(t, results, runs, func(u Update) {
				if u.State == Again {
					reasons[u.Run.ID.Seed] = u.Reason
					if u.Run.ID.Seed != test.seed {
						letGo(t, u.Run.Dir(results))
					}
				}
			})
			options.Retries, options.Stall = 1, 2*time.Second
			summary := Run(t.Context(), runs, options)
			for _, seed := range []int64{reportsUntilReleased, alsoReportsUntilReleased} {
				if !slices.Contains(seedsOf(summary.Finished), seed) || !strings.HasPrefix(reasons[seed], test.reason) {
					t.Errorf("seed %d: reason %q, %+v", seed, reasons[seed], summary)
				}
			}
			if finished := slices.Contains(seedsOf(summary.Finished), test.seed); finished != (test.seed == diesOnce) {
				t.Errorf("%+v", summary)
			}
			first, second := processIn(results, runs[1]), processIn(results, runs[2])
			if first == "" || first == second {
				t.Errorf("after that, processes %q and %q", first, second)
			}
		})
	}
}

// All runs of a process stop when they are asked to.
func TestSharedProcessStops(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, stopsWhenAsked, stopsWhenAskedToo)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	running := map[int64]bool{}
	summary := Run(ctx, runs, sharing(t, results, runs, func(u Update) {
		if u.State == Running {
			if running[u.Run.ID.Seed] = true; len(running) == 2 {
				cancel()
			}
		}
	}))
	if got := seedsOf(summary.Left); !slices.Equal(got, []int64{stopsWhenAsked, stopsWhenAskedToo}) {
		t.Errorf("%+v", summary)
	}
}

func TestSlotSizes(t *testing.T) {
	for _, test := range []struct {
		runs, most int
		want       []int
	}{
		{3, 1, []int{1, 1, 1}},
		{6, 4, []int{4, 2}},
		{2, 4, []int{2}},
		{0, 2, nil},
	} {
		if got := slotSizes(test.runs, test.most); !slices.Equal(got, test.want) {
			t.Errorf("%d runs at a time, %d a process: %v", test.runs, test.most, got)
		}
	}
}
