package progress

import (
	"time"

	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/experiments/store"
)

// tracker sums up updates and estimates the time that is left.
type tracker struct {
	now     func() time.Time
	runs    int       // without those that had been finished before
	skipped int       // since takeSkipped
	ended   int       // and not stopped: those go on another time
	started time.Time // of the first run
	running map[store.ID]*course
}

// course is a run on its way.
type course struct {
	started  time.Time
	progress plan.Progress
	// The time left is estimated from the first report on: what comes before, the
	// reading of the data, is not repeated.
	firstReport   time.Time
	firstFraction float64
}

func newTracker(runs int, now func() time.Time) *tracker {
	return &tracker{now: now, runs: runs, running: map[store.ID]*course{}}
}

// add takes an update into account. It returns the run's course, that of a run that
// has just ended included, and nil for a run that was skipped.
func (t *tracker) add(u schedule.Update) *course {
	now := t.now()
	switch u.State {
	case schedule.Skipped:
		t.runs--
		t.skipped++
		return nil
	case schedule.Started:
		if t.started.IsZero() {
			t.started = now
		}
		t.running[u.Run.ID] = &course{started: now}
	}
	c := t.running[u.Run.ID]
	switch u.State {
	case schedule.Running:
		if c.firstReport.IsZero() {
			c.firstReport, c.firstFraction = now, u.Progress.Fraction()
		}
		c.progress = u.Progress
	case schedule.Again:
		*c = course{started: c.started}
	case schedule.Finished, schedule.Failed:
		t.ended++
		delete(t.running, u.Run.ID)
	}
	return c
}

// takeSkipped returns the number of runs that were skipped since the last call.
func (t *tracker) takeSkipped() int {
	skipped := t.skipped
	t.skipped = 0
	return skipped
}

// fraction returns the completed part of all runs together, each counting the same.
func (t *tracker) fraction() float64 {
	done := float64(t.ended)
	for _, c := range t.running {
		done += c.progress.Fraction()
	}
	return done / float64(max(t.runs, 1))
}

// settling is the time after which the estimate for all runs is worth showing: before,
// it is mostly the reading of the data.
const settling = 15 * time.Second

// timeLeft estimates the time to the end of all runs; ok is false while there is
// nothing to go by.
func (t *tracker) timeLeft() (left time.Duration, ok bool) {
	elapsed := t.now().Sub(t.started)
	if elapsed < settling {
		return 0, false
	}
	return extrapolate(elapsed, t.fraction(), 1)
}

// timeLeft estimates the time to the end of the run.
func (c *course) timeLeft(now time.Time) (left time.Duration, ok bool) {
	if c.firstReport.IsZero() {
		return 0, false
	}
	fraction := c.progress.Fraction()
	return extrapolate(now.Sub(c.firstReport), fraction-c.firstFraction, 1-c.firstFraction)
}

// extrapolate returns the time for the rest of whole, at the pace of the part.
func extrapolate(elapsed time.Duration, part, whole float64) (time.Duration, bool) {
	if part <= 0 {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (whole - part) / part), true
}
