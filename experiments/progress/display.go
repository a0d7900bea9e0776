package progress

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"iwda/experiments/schedule"
	"iwda/internal/printable"
)

// lineInterval is the time after which a line says how far the runs are, where there is no terminal.
const lineInterval = time.Minute

// clearLine brings the cursor of a terminal to the start of its line, and takes away what is there.
const clearLine = "\r\x1b[K"

// Display shows updates.
type Display struct {
	tracker *tracker
	width   int // of a terminal; 0 if there is none
	overall bool
	last    time.Time // that a line said how far the runs are

	writing sync.Mutex
	w       io.Writer
	status  string // the last line of a terminal, which is always written anew
}

// New returns a display of that many runs on w: a line for what happens, and below these, on a terminal of that
// width, one that says how far the runs are. A width of 0 stands for no terminal. Overall, there is no line about a run
// that ends well.
func New(w io.Writer, width int, overall bool, runs int) *Display {
	return newDisplay(w, width, overall, runs, time.Now)
}

func newDisplay(w io.Writer, width int, overall bool, runs int, now func() time.Time) *Display {
	return &Display{w: w, width: width, overall: overall, tracker: newTracker(runs, now), last: now()}
}

// Observe shows an update. It is to be called by one goroutine at a time, as schedule.Options.Observe is.
func (d *Display) Observe(u schedule.Update) {
	took := d.tracker.add(u)
	if u.State == schedule.Started {
		d.printSkipped()
	}
	if line := d.line(u, took); line != "" {
		d.Print(line)
	}
	d.show(d.progress())
}

// line is what there is to say of an update of a run that took so long, "" for nothing.
func (d *Display) line(u schedule.Update, took time.Duration) string {
	ended := u.State == schedule.Finished || u.State == schedule.Failed
	said := ""
	switch {
	case u.State == schedule.Waiting:
		return fmt.Sprintf("waiting  %v: %s", u.Run.ID, u.Reason)
	case u.State == schedule.Again:
		return fmt.Sprintf("again    %v (%d of %d): %s", u.Run.ID, u.Attempt, u.Attempts, u.Reason)
	case u.State == schedule.Stopped, ended && !(d.overall && u.State == schedule.Finished):
		said = endLine(u, took)
	}
	now := d.tracker.now()
	if d.width > 0 || !ended && (u.State != schedule.Running || now.Sub(d.last) < lineInterval) { // the last line of a terminal says how far all is
		return said
	}
	d.last = now
	if said == "" {
		return total(d.tracker)
	}
	return said + "; " + total(d.tracker)
}

// progress is the last line of a terminal: how far all runs are.
func (d *Display) progress() string {
	const bar = 20
	done := int(math.Round(bar * d.tracker.fraction()))
	return fmt.Sprintf("[%s%s] %s", strings.Repeat("#", done), strings.Repeat("-", bar-done), total(d.tracker))
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
