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
}

func newTracker(runs int, now func() time.Time) *tracker {
	return &tracker{now: now, runs: runs, running: map[store.ID]*course{}}
}

// add takes an update into account. It returns how long the run has taken, 0 of one that was skipped.
func (t *tracker) add(u schedule.Update) time.Duration {
	now := t.now()
	switch u.State {
	case schedule.Skipped:
		t.runs--
		t.skipped++
	case schedule.Started:
		if t.started.IsZero() {
			t.started = now
		}
		t.running[u.Run.ID] = &course{started: now}
	}
	c, is := t.running[u.Run.ID]
	if !is {
		return 0
	}
	switch u.State {
	case schedule.Running:
		c.progress = u.Progress
	case schedule.Again:
		c.progress = plan.Progress{}
	case schedule.Finished, schedule.Failed:
		t.ended++
		delete(t.running, u.Run.ID)
	}
	return now.Sub(c.started)
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

// timeLeft estimates the time to the end of all runs, at the pace so far; ok is false while there is
// nothing to go by.
func (t *tracker) timeLeft() (left time.Duration, ok bool) {
	elapsed, done := t.now().Sub(t.started), t.fraction()
	if elapsed < settling || done <= 0 {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (1 - done) / done), true
}
