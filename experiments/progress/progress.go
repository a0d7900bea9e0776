// Package progress shows how far the runs of an experiment have come: lines for what happens, and one
// on a terminal that changes.
package progress

import (
	"fmt"
	"math"
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
			return fmt.Sprintf("finished %v in %s", u.Run.ID, short(took))
		}
		return fmt.Sprintf("finished %v: accuracy best %s (epoch %d), last %s, in %s",
			u.Run.ID, percent(r.BestAccuracy.Value), r.BestEpoch.Value, percent(r.LastAccuracy.Value), short(took))
	case schedule.Failed:
		reason, _, _ := strings.Cut(u.Failure.Error(), "\n")
		return fmt.Sprintf("failed   %v: %s", u.Run.ID, strings.TrimSuffix(reason, ":"))
	}
	return fmt.Sprintf("stopped  %v after %s", u.Run.ID, short(took))
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
		text += ", " + short(left) + " left"
	}
	return text
}

func percent(fraction float64) string { return fmt.Sprintf("%.2f%%", 100*fraction) }

// short returns a duration in at most two units: 9s, 1m09s, 2h05m, 3d04h.
func short(d time.Duration) string {
	seconds := int(math.Round(d.Seconds()))
	minutes, hours, days := seconds/60, seconds/3600, seconds/86400
	switch {
	case minutes == 0:
		return fmt.Sprintf("%ds", seconds)
	case hours == 0:
		return fmt.Sprintf("%dm%02ds", minutes, seconds%60)
	case days == 0:
		return fmt.Sprintf("%dh%02dm", hours, minutes%60)
	}
	return fmt.Sprintf("%dd%02dh", days, hours%24)
}
