// Package progress shows how far the runs of an experiment have come: lines for what happens, and one
// on a terminal that changes.
package progress

import (
	"fmt"
	"strings"
	"time"

	"iwda/experiments/schedule"
)

// endLine says how a run ended.
func endLine(u schedule.Update, took time.Duration) string {
	switch u.State {
	case schedule.Finished:
		r := u.Result
		if !r.LastAccuracy.Measured {
			return fmt.Sprintf("finished %v in %v", u.Run.ID, short(took))
		}
		return fmt.Sprintf("finished %v: accuracy best %s (epoch %d), last %s, in %v",
			u.Run.ID, percent(r.BestAccuracy.Value), r.BestEpoch.Value, percent(r.LastAccuracy.Value), short(took))
	case schedule.Failed:
		reason, _, _ := strings.Cut(u.Failure.Error(), "\n")
		return fmt.Sprintf("failed   %v: %s", u.Run.ID, strings.TrimSuffix(reason, ":"))
	}
	return fmt.Sprintf("stopped  %v after %v", u.Run.ID, short(took))
}

func skippedLine(runs int) string {
	if runs == 1 {
		return "1 run was already finished"
	}
	return fmt.Sprintf("%d runs were already finished", runs)
}

// total describes all runs together.
func total(t *tracker) string {
	text := fmt.Sprintf("%d/%d runs", t.ended, t.runs)
	if left, ok := t.timeLeft(); ok {
		text += fmt.Sprintf(", %v left", short(left))
	}
	return text
}

func percent(fraction float64) string { return fmt.Sprintf("%.2f%%", 100*fraction) }

// short returns a duration in whole seconds.
func short(d time.Duration) time.Duration { return d.Round(time.Second) }
