package schedule

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// TestRetries: a worker that died without a word is followed by another one, but not
// for ever, and not where it said why.
func TestRetries(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, diesOnce, isKilled, fails)
	var again []Update
	options := makeOptions(t, results, func(u Update) {
		if u.State == Again {
			again = append(again, u)
		}
	})
	options.Jobs, options.Retries = 1, 2
	summary := Run(t.Context(), runs, options)
	if got := seedsOf(summary.Finished); !slices.Equal(got, []int64{diesOnce}) || len(summary.Failed) != 2 {
		t.Fatalf("%+v", summary)
	}
	for i, want := range []int{3, 1} {
		failure := summary.Failed[i]
		if failure.Attempts != want {
			t.Errorf("seed %d: %d attempts, want %d", failure.Run.ID.Seed, failure.Attempts, want)
		}
		message, _, err := failure.Run.Dir(results).ReadFailure()
		if err != nil || strings.Contains(message, "(3 attempts)") != (want == 3) {
			t.Errorf("error.txt %q, %v", message, err)
		}
	}
	if len(again) != 3 || again[0].Attempt != 2 || again[2].Attempt != 3 || again[2].Attempts != 3 ||
		again[0].Reason != "the worker ended with exit status 2" || !strings.Contains(again[1].Reason, "killed") {
		t.Errorf("updates %+v", again)
	}
	log := logOf(results, runs[0])
	first, second, ok := strings.Cut(log, ": attempt 2 of 3, because the worker ended with exit status 2 ---\n")
	if !ok || !strings.HasPrefix(first, "alive\nfatal error: in the first life") || second != "alive\n" {
		t.Errorf("log\n%s", log)
	}
}

// A folder of results that is moved away is not made anew: no other run starts.
func TestResultsThatWereMoved(t *testing.T) {
	results := filepath.Join(t.TempDir(), "results")
	options := makeOptions(t, results, func(u Update) {
		if u.State == Finished {
			if err := os.Rename(results, results+" elsewhere"); err != nil {
				t.Error(err)
			}
		}
	})
	options.Jobs = 1
	summary := Run(t.Context(), makeRuns(t, succeeds, alsoSucceeds), options)
	if len(summary.Finished) != 1 || len(summary.Failed) != 1 || !strings.Contains(summary.Failed[0].Error(), results+" was moved, deleted or replaced") {
		t.Errorf("%+v", summary)
	}
	if _, err := os.Stat(results); err == nil {
		t.Error("the folder was made anew")
	}
}

// A Go panic comes again: it is not tried again, and is the failure's last word.
func TestPanicsAreNotRetried(t *testing.T) {
	options := makeOptions(t, t.TempDir(), func(Update) {})
	options.Retries = 2
	summary := Run(t.Context(), makeRuns(t, panics), options)
	if len(summary.Failed) != 1 || summary.Failed[0].Attempts != 1 || !strings.Contains(summary.Failed[0].Error(), "panic: in the worker") {
		t.Errorf("%+v", summary)
	}
}

// TestFailureQuotesItsOwnAttempt: the words of a former worker are not those of the last.
func TestFailureQuotesItsOwnAttempt(t *testing.T) {
	results := t.TempDir()
	runs := makeRuns(t, exits)
	dir := runs[0].Dir(results)
	must.Do(t, dir.Begin())
	testfiles.Write(t, dir.Path(store.LogFile), "panic: of last year\n")
	summary := Run(t.Context(), runs, makeOptions(t, results, func(Update) {}))
	if len(summary.Failed) != 1 || strings.Contains(summary.Failed[0].Error(), "last year") || !strings.HasSuffix(summary.Failed[0].Error(), "\nsix") {
		t.Errorf("%+v", summary)
	}
	if log := logOf(results, runs[0]); !strings.HasPrefix(log, "panic: of last year\n\n--- ") || !strings.Contains(log, ": started once more ---\none\n") {
		t.Errorf("log\n%s", log)
	}
}
