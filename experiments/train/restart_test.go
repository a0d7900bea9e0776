package train

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/internal/must"
)

// diverging is a run whose learning rate is too high.
func diverging(t *testing.T, restarts int) config.Resolved {
	return resolve(t, "subsampled", "iwdan", 1, "train.optimizer.lr=1", "discriminator.reversal.iterations=100", fmt.Sprintf("train.restarts=%d", restarts))
}

// A run that began again is to the bit the one that began with its last learning rates, and
// says how it came to them.
func TestRestart(t *testing.T) {
	run := diverging(t, 20)
	dir, log := begin(t, run), &strings.Builder{}
	result := must.Have(Run(t.Context(), run, dir, Options{Threads: 1, Log: log}))(t)
	if len(result.Restarts) == 0 {
		t.Fatal("the run did not diverge")
	}
	rate := 1.0
	for _, r := range result.Restarts {
		rate /= 2
		if want := fmt.Sprintf("step %d: the %s is", r.Step, r.Term); r.Step < 1 || r.Term == "" || !strings.Contains(log.String(), want) {
			t.Errorf("restart %+v is not in the log\n%s", r, log)
		}
	}
	slow := run
	slow.Train.Optimizer.LR, slow.Train.Restarts = rate, 0
	other, _ := train(t, slow)
	started, restarted := outcomeOf(t, other), outcomeOf(t, dir)
	restarted.Result.Restarts = nil
	restarted.Result.ConfigHash = started.Result.ConfigHash
	if diff := started.diff(restarted); diff != "" {
		t.Errorf("the run that began with the rate %v ends otherwise:\n%s", rate, diff)
	}
}

func TestRestartsEnd(t *testing.T) {
	run := diverging(t, 1)
	_, err := Run(t.Context(), run, begin(t, run), Options{Threads: 1})
	var diverged *DivergedError
	if !errors.As(err, &diverged) || !strings.Contains(err.Error(), "after 1 restarts, with learning rates times 0.5") {
		t.Errorf("error %v", err)
	}
}
