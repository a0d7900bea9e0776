package schedule

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/printable"
)

// endLine says how a run ended.
func endLine(u Update, took time.Duration) string {
	switch u.State {
	case Finished:
		r := u.Result
		if !r.LastAccuracy.Measured {
			return fmt.Sprintf("finished %v in %v", u.Run.ID, inSeconds(took))
		}
		return fmt.Sprintf("finished %v: accuracy best %s (epoch %d), last %s, in %v",
			u.Run.ID, percent(r.BestAccuracy.Value), r.BestEpoch.Value, percent(r.LastAccuracy.Value), inSeconds(took))
	case Failed:
		reason, _, _ := strings.Cut(u.Failure.Error(), "\n")
		return fmt.Sprintf("failed   %v: %s", u.Run.ID, strings.TrimSuffix(reason, ":"))
	}
	return fmt.Sprintf("stopped  %v after %v", u.Run.ID, inSeconds(took))
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
	if t.undecided {
		text += " at most"
	}
	if left, ok := t.timeLeft(); ok {
		text += fmt.Sprintf(", %v left", inSeconds(left))
	}
	return text
}

func percent(fraction float64) string { return fmt.Sprintf("%.2f%%", 100*fraction) }

// inSeconds returns a duration in whole seconds.
func inSeconds(d time.Duration) time.Duration { return d.Round(time.Second) }

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

// NewDisplay returns a display of that many runs on w: a line for what happens, and below these, on a terminal of that
// width, one that says how far the runs are. A width of 0 stands for no terminal. Overall, there is no line about a run
// that ends well.
func NewDisplay(w io.Writer, width int, overall bool, runs int) *Display {
	return newDisplay(w, width, overall, runs, time.Now)
}

func newDisplay(w io.Writer, width int, overall bool, runs int, now func() time.Time) *Display {
	return &Display{w: w, width: width, overall: overall, tracker: newTracker(runs, now), last: now()}
}

// Observe shows an update. It is to be called by one goroutine at a time, as Options.Observe is.
func (d *Display) Observe(u Update) {
	took := d.tracker.add(u)
	if u.State == Started {
		d.printSkipped()
	}
	if line := d.line(u, took); line != "" {
		d.Print(line)
	}
	d.show(total(d.tracker))
}

// line is what there is to say of an update of a run that took so long, "" for nothing.
func (d *Display) line(u Update, took time.Duration) string {
	ended := u.State == Finished || u.State == Failed
	said := ""
	switch {
	case u.State == Waiting:
		return fmt.Sprintf("waiting  %v: %s", u.Run.ID, u.Reason)
	case u.State == Again:
		return fmt.Sprintf("again    %v (%d of %d): %s", u.Run.ID, u.Attempt, u.Attempts, u.Reason)
	case u.State == Stopped, ended && !(d.overall && u.State == Finished):
		said = endLine(u, took)
	}
	now := d.tracker.now()
	if d.width > 0 || !ended && (u.State != Running || now.Sub(d.last) < lineInterval) { // the last line of a terminal says how far all is
		return said
	}
	d.last = now
	if said == "" {
		return total(d.tracker)
	}
	return said + "; " + total(d.tracker)
}

// printSkipped says, once, how many runs were skipped.
func (d *Display) printSkipped() {
	if skipped := d.tracker.skipped; skipped > 0 {
		d.tracker.skipped = 0
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

// tracker sums up updates and estimates the time that is left.
type tracker struct {
	now     func() time.Time
	runs    int       // without those that had been finished before, or are not needed
	skipped int       // and not printed yet
	ended   int       // and not stopped: those go on another time
	started time.Time // of the first run
	running map[store.ID]*course

	undecided bool // whether all of the runs are needed
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
func (t *tracker) add(u Update) time.Duration {
	now := t.now()
	t.undecided = u.Undecided
	switch u.State {
	case NotNeeded:
		t.runs--
	case Skipped:
		t.runs--
		t.skipped++
	case Started:
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
	case Running:
		c.progress = u.Progress
	case Again:
		c.progress = plan.Progress{}
	case Finished, Failed:
		t.ended++
		delete(t.running, u.Run.ID)
	}
	return now.Sub(c.started)
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
