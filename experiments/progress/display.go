package progress

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"iwda/experiments/schedule"
	"iwda/experiments/store"
	"iwda/internal/printable"
)

// Where there is no terminal, a run gets a line when it has passed another lineFraction of its steps, and in any
// case when lineInterval has passed since its last line.
const (
	lineFraction = 0.1
	lineInterval = time.Minute
)

// clearLine brings the cursor of a terminal to the start of its line, and takes away what is there.
const clearLine = "\r\x1b[K"

// Display shows updates.
type Display struct {
	tracker *tracker
	width   int // of a terminal; 0 if there is none
	overall bool
	last    map[store.ID]mark // overall, of no run

	writing sync.Mutex
	w       io.Writer
	status  string // the last line of a terminal, which is always written anew
}

// mark is where a run was at its last line.
type mark struct {
	at    time.Time
	tenth int
}

// New returns a display of that many runs on w: a line for what happens, and below these, on a terminal of that
// width, one that says how far the runs are. A width of 0 stands for no terminal. Overall, all runs are shown as one:
// there is no line about a run that ends well.
func New(w io.Writer, width int, overall bool, runs int) *Display {
	return newDisplay(w, width, overall, runs, time.Now)
}

func newDisplay(w io.Writer, width int, overall bool, runs int, now func() time.Time) *Display {
	return &Display{w: w, width: width, overall: overall, tracker: newTracker(runs, now), last: map[store.ID]mark{}}
}

// Observe shows an update. It is to be called by one goroutine at a time, as schedule.Options.Observe is.
func (d *Display) Observe(u schedule.Update) {
	c := d.tracker.add(u)
	if u.State == schedule.Started {
		d.printSkipped()
	}
	if line := d.line(u, c, d.tracker.now()); line != "" {
		d.Print(line)
	}
	d.show(d.progress())
}

// line is what there is to say of an update, "" for nothing.
func (d *Display) line(u schedule.Update, c *course, now time.Time) string {
	onTerminal := d.width > 0 // whose last line says how far all is
	switch u.State {
	case schedule.Waiting:
		return waitingLine(u)
	case schedule.Again:
		d.last[u.Run.ID] = mark{at: now}
		return againLine(u)
	case schedule.Started, schedule.Running:
		switch {
		case onTerminal:
			return ""
		case d.overall:
			return d.overallLine(u, now)
		}
		return d.runLine(u, c, now)
	case schedule.Stopped:
		return endLine(u, now.Sub(c.started))
	case schedule.Finished, schedule.Failed:
		switch {
		case d.overall && u.State == schedule.Finished && onTerminal:
			return ""
		case d.overall && u.State == schedule.Finished:
			return d.overallLine(u, now)
		case onTerminal:
			return endLine(u, now.Sub(c.started))
		}
		return endLine(u, now.Sub(c.started)) + "; " + total(d.tracker)
	}
	return ""
}

// runLine is the line about a run that begins or goes on, if one is due.
func (d *Display) runLine(u schedule.Update, c *course, now time.Time) string {
	id, tenth := u.Run.ID, int(math.Floor(u.Progress.Fraction()/lineFraction))
	if last := d.last[id]; u.State == schedule.Running && tenth <= last.tenth && now.Sub(last.at) < lineInterval {
		return ""
	}
	d.last[id] = mark{now, tenth}
	if u.State == schedule.Started {
		return fmt.Sprintf("started  %v", id)
	}
	return fmt.Sprintf("running  %v: %.0f%%, %s", id, 100*u.Progress.Fraction(), state(c, now, "accuracy "))
}

// overallLine is the line about all runs as one, if one is due: when one of them ends, or after lineInterval.
func (d *Display) overallLine(u schedule.Update, now time.Time) string {
	var all store.ID
	last, begun := d.last[all]
	if u.State == schedule.Started && begun || u.State == schedule.Running && now.Sub(last.at) < lineInterval {
		return ""
	}
	d.last[all] = mark{at: now}
	if u.State == schedule.Started {
		return ""
	}
	return total(d.tracker)
}

// progress is the last line of a terminal: how far all runs are, and then each of those on their way.
func (d *Display) progress() string {
	const bar = 20
	done := int(math.Round(bar * d.tracker.fraction()))
	parts := []string{fmt.Sprintf("[%s%s] %s", strings.Repeat("#", done), strings.Repeat("-", bar-done), total(d.tracker))}
	if !d.overall {
		ids := slices.SortedFunc(maps.Keys(d.tracker.running), func(a, b store.ID) int { return cmp.Compare(a.String(), b.String()) })
		for _, id := range ids {
			parts = append(parts, fmt.Sprintf("%v: %s", id, state(d.tracker.running[id], d.tracker.now(), "")))
		}
	}
	return strings.Join(parts, "; ")
}

// printSkipped says, once, how many runs were skipped.
func (d *Display) printSkipped() {
	if skipped := d.tracker.takeSkipped(); skipped > 0 {
		d.Print(skippedLine(skipped))
	}
}

// Print shows a line of text. Any goroutine may call it.
func (d *Display) Print(line string) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if d.width == 0 {
		fmt.Fprintln(d.w, line)
		return
	}
	fmt.Fprint(d.w, clearLine+printable.Text(line)+"\n"+d.status)
}

// show has a terminal's last line say something else.
func (d *Display) show(status string) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if d.width == 0 {
		return
	}
	letters := []rune(printable.Text(status))
	d.status = string(letters[:min(len(letters), d.width-1)])
	fmt.Fprint(d.w, clearLine+d.status)
}

// Close takes away what is not to stay. Nothing may be shown after it.
func (d *Display) Close() {
	d.printSkipped()
	d.show("")
}
