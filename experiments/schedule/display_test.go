package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// clock is a time that a test sets.
type clock struct{ time.Time }

func newClock() *clock { return &clock{time.Unix(1000, 0)} }

func (c *clock) now() time.Time   { return c.Time }
func (c *clock) wait(seconds int) { c.Time = c.Add(time.Duration(seconds) * time.Second) }
func run(seed int64) plan.Run {
	return plan.Run{ID: store.ID{Variant: "full", Task: "a-b", Method: "dann", Seed: seed}}
}
func started(seed int64) Update {
	return Update{Run: run(seed), State: Started}
}
func skipped(seed int64) Update {
	return Update{Run: run(seed), State: Skipped}
}
func stopped(seed int64) Update {
	return Update{Run: run(seed), State: Stopped}
}

func running(seed int64, step int) Update {
	return Update{Run: run(seed), State: Running, Progress: plan.Progress{Step: step, Steps: 1000}}
}

func waiting(seed int64) Update {
	return Update{Run: run(seed), State: Waiting, Reason: "held by another iwrun (pid 7, host)"}
}

func again(seed int64) Update {
	return Update{Run: run(seed), State: Again, Reason: "the worker was killed", Attempt: 2, Attempts: 3}
}

func finished(seed int64) Update {
	return Update{Run: run(seed), State: Finished, Result: store.Result{BestAccuracy: store.Measured(0.95), BestEpoch: store.Measured(3), LastAccuracy: store.Measured(0.9)}}
}

func failed(seed int64) Update {
	return Update{Run: run(seed), State: Failed, Failure: Failure{Reason: "no memory:", LogEnd: []string{"x"}}}
}

// lines is a display of so many runs that prints lines, where, and what has it observe an update after so many seconds.
func lines(overall bool, runs int) (b *strings.Builder, l *Display, observe func(after int, u Update)) {
	b = new(strings.Builder)
	c := newClock()
	l = newDisplay(b, 0, overall, runs, c.now)
	return b, l, func(after int, u Update) {
		c.wait(after)
		l.Observe(u)
	}
}

// A line says what happens, and if nothing did for a minute, how far all runs are.
func TestLines(t *testing.T) {
	b, l, observe := lines(false, 7)
	observe(0, skipped(8))
	observe(0, skipped(9))
	observe(0, waiting(4))
	observe(0, started(1))
	observe(10, running(1, 90))
	observe(49, running(1, 400))
	observe(1, running(1, 600)) // a minute without a line
	observe(0, started(2))
	observe(40, finished(1)) // 1 of 5 runs after 100 s: 400 s left
	observe(0, failed(2))
	observe(0, again(2))
	observe(0, started(3))
	observe(50, stopped(3))
	observe(0, skipped(4)) // which another iwrun has finished
	l.Close()
	want := `waiting  full/a-b/dann/seed-4: held by another iwrun (pid 7, host)
2 runs were already finished
0/5 runs, 7m20s left
finished full/a-b/dann/seed-1: accuracy best 95.00% (epoch 3), last 90.00%, in 1m40s; 1/5 runs, 6m40s left
failed   full/a-b/dann/seed-2: no memory; 2/5 runs, 2m30s left
again    full/a-b/dann/seed-2 (2 of 3): the worker was killed
stopped  full/a-b/dann/seed-3 after 50s
1 run was already finished
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestLinesWhenAllWereFinished(t *testing.T) {
	var b strings.Builder
	l := NewDisplay(&b, 0, false, 1)
	l.Observe(skipped(1))
	l.Close()
	if got := b.String(); got != "1 run was already finished\n" {
		t.Errorf("got %q", got)
	}
}

// TestTotal: runs on their way count by their fraction.
func TestTotal(t *testing.T) {
	c := newClock()
	tr := newTracker(3, c.now)
	if got := total(tr); got != "0/3 runs" {
		t.Errorf("at the start: %q", got)
	}
	tr.add(skipped(1))
	tr.add(started(2))
	tr.add(started(3))
	c.wait(10)
	tr.add(running(2, 100))
	if got := total(tr); got != "0/2 runs" {
		t.Errorf("an early estimate: %q", got)
	}
	c.wait(20)
	tr.add(running(2, 500))
	tr.add(running(3, 250))
	if got := tr.fraction(); got != 0.375 {
		t.Errorf("fraction %v, want (0.5+0.25)/2", got)
	}
	if got := total(tr); got != "0/2 runs, 50s left" {
		t.Errorf("on the way: %q", got)
	}
	tr.add(stopped(3))
	if got := total(tr); got != "0/2 runs, 50s left" {
		t.Errorf("a run that was stopped has not ended: %q", got)
	}
}

// On a terminal the last line says how far the runs are, no wider than it, and is gone at the end.
func TestTerminal(t *testing.T) {
	var b strings.Builder
	c := newClock()
	d := newDisplay(&b, 13, false, 4, c.now)
	last := func(want string) {
		t.Helper()
		if _, got, _ := cutLast(b.String(), clearLine); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	observe := func(u Update) { c.wait(10); d.Observe(u) }
	observe(skipped(9))
	observe(started(1))
	last("0/3 runs")
	observe(started(2))
	observe(running(1, 600))
	last("0/3 runs, 1m") // of the width
	observe(waiting(4))
	observe(again(1))
	d.Print("a\x1b line")
	observe(finished(1))
	observe(failed(2))
	last("2/3 runs, 30")
	d.Close()
	var lines []string
	for line := range strings.SplitSeq(b.String(), "\n") {
		_, line, _ = cutLast(line, clearLine)
		lines = append(lines, line)
	}
	want := []string{
		"1 run was already finished", "waiting  full/a-b/dann/seed-4: held by another iwrun (pid 7, host)", "again    full/a-b/dann/seed-1 (2 of 3): the worker was killed", `a\x1b line`,
		"finished full/a-b/dann/seed-1: accuracy best 95.00% (epoch 3), last 90.00%, in 50s", "failed   full/a-b/dann/seed-2: no memory", "",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// cutLast is strings.Cut at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	if at := strings.LastIndex(text, separator); at >= 0 {
		return text[:at], text[at+len(separator):], true
	}
	return "", text, false
}

// All runs as one: a line whenever one ends well or a minute has passed, and what went wrong.
func TestOverallLines(t *testing.T) {
	b, l, observe := lines(true, 4)
	observe(0, skipped(9))
	observe(0, started(1))
	observe(0, started(2))
	observe(30, running(1, 500)) // less than a minute
	observe(30, running(1, 600)) // a fifth of three runs after a minute
	observe(20, finished(1))
	observe(50, running(2, 300))
	observe(10, failed(2))
	l.Close()
	want := `1 run was already finished
0/3 runs, 4m0s left
1/3 runs, 2m40s left
failed   full/a-b/dann/seed-2: no memory; 2/3 runs, 1m10s left
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// As long as it is not known which runs are needed, their number is the most that there can be.
func TestLinesOfRunsThatMayNotBeNeeded(t *testing.T) {
	b, l, observe := lines(true, 4)
	observe(0, Update{Run: run(1), State: Started, Undecided: true})
	observe(1, Update{Run: run(1), State: Finished, Undecided: true})
	observe(0, Update{Run: run(3), State: NotNeeded})
	observe(0, started(2))
	observe(1, finished(2))
	l.Close()
	if want := "1/4 runs at most\n2/3 runs\n"; b.String() != want {
		t.Errorf("%q, want %q", b, want)
	}
}

// On a terminal nothing stays of all runs as one but what went wrong.
func TestOverallOnATerminal(t *testing.T) {
	var b strings.Builder
	d := NewDisplay(&b, 90, true, 2)
	for _, u := range []Update{started(1), running(1, 500), again(1), started(2), finished(1), failed(2)} {
		d.Observe(u)
	}
	d.Close()
	text := b.String()
	if strings.Contains(text, "finished full/a-b/dann/seed-1") || !strings.Contains(text, "failed   full/a-b/dann/seed-2: no memory") {
		t.Errorf("%q", text)
	}
}
