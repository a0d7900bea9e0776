package progress

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"iwda/experiments/schedule"
	"iwda/experiments/store"
)

// A run gets a line when it has passed another lineFraction of its steps, and in any
// case when lineInterval has passed since its last line.
const (
	lineFraction = 0.1
	lineInterval = time.Minute
)

// lines is the display for logs: a line whenever something happens.
type lines struct {
	tracker *tracker
	overall bool
	last    map[store.ID]mark // overall, of no run

	writing sync.Mutex
	w       io.Writer
}

func newLines(w io.Writer, overall bool, runs int, now func() time.Time) *lines {
	return &lines{w: w, overall: overall, tracker: newTracker(runs, now), last: map[store.ID]mark{}}
}

// mark is where a run was at its last line.
type mark struct {
	at    time.Time
	tenth int
}

func (l *lines) Observe(u schedule.Update) {
	c := l.tracker.add(u)
	now := l.tracker.now()
	if l.overall && l.observeAll(u, now) {
		return
	}
	switch u.State {
	case schedule.Skipped:
	case schedule.Waiting:
		l.Print(waitingLine(u))
	case schedule.Again:
		l.last[u.Run.ID] = mark{at: now}
		l.Print(againLine(u))
	case schedule.Started:
		l.printSkipped()
		l.last[u.Run.ID] = mark{at: now}
		l.Print(fmt.Sprintf("started  %v", u.Run.ID))
	case schedule.Running:
		tenth := int(math.Floor(u.Progress.Fraction() / lineFraction))
		if last := l.last[u.Run.ID]; tenth > last.tenth || now.Sub(last.at) >= lineInterval {
			l.last[u.Run.ID] = mark{now, tenth}
			l.Print(fmt.Sprintf("running  %v: %.0f%%, %s", u.Run.ID, 100*u.Progress.Fraction(), state(c, now, "accuracy ")))
		}
	case schedule.Stopped:
		l.Print(endLine(u, now.Sub(c.started)))
	default:
		l.Print(endLine(u, now.Sub(c.started)) + "; " + total(l.tracker))
	}
}

// observeAll shows an update of all runs as one, unless it is of its run alone.
func (l *lines) observeAll(u schedule.Update, now time.Time) bool {
	var all store.ID
	last, begun := l.last[all]
	switch {
	case u.State == schedule.Started:
		l.printSkipped()
		if begun {
			return true
		}
	case u.State == schedule.Running && now.Sub(last.at) < lineInterval:
		return true
	case u.State == schedule.Running, u.State == schedule.Finished:
		l.Print(total(l.tracker))
	default:
		return false
	}
	l.last[all] = mark{at: now}
	return true
}

// printSkipped says, once, how many runs were skipped.
func (l *lines) printSkipped() {
	if skipped := l.tracker.takeSkipped(); skipped > 0 {
		l.Print(skippedLine(skipped))
	}
}

func (l *lines) Print(line string) {
	l.writing.Lock()
	defer l.writing.Unlock()
	fmt.Fprintln(l.w, line)
}

func (l *lines) Close() { l.printSkipped() }
