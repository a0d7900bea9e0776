package progress

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"iwda/experiments/schedule"
	"iwda/experiments/store"
	"iwda/internal/printable"
)

// Bars count to barTotal, and never reach it themselves: they are taken away.
const (
	barTotal      = 1000
	barWidth      = 24
	totalPriority = math.MaxInt32 // below the bars of the runs
)

// bars is the display for terminals: a bar for each run on its way and one for all
// runs together, and above them a line for each run that has ended.
type bars struct {
	container *mpb.Progress
	overall   bool
	all       *mpb.Bar
	byRun     map[store.ID]*mpb.Bar

	tracking sync.Mutex // the container's goroutines read the tracker too
	tracker  *tracker
}

func newBars(w io.Writer, overall bool, runs int, now func() time.Time) *bars {
	b := &bars{
		container: mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh()),
		overall:   overall,
		byRun:     map[store.ID]*mpb.Bar{},
		tracker:   newTracker(runs, now),
	}
	b.all = b.addBar("all runs", mpb.BarPriority(totalPriority), func() string { return total(b.tracker) })
	return b
}

// addBar adds a bar with a name before it and a text, read under the lock, after it.
func (b *bars) addBar(name string, place mpb.BarOption, text func() string) *mpb.Bar {
	return b.container.AddBar(barTotal, place, mpb.BarWidth(barWidth),
		mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			b.tracking.Lock()
			defer b.tracking.Unlock()
			return " " + text()
		})))
}

func (b *bars) Observe(u schedule.Update) {
	b.tracking.Lock()
	c := b.tracker.add(u)
	now, fraction := b.tracker.now(), b.tracker.fraction()
	b.tracking.Unlock()

	id := u.Run.ID
	switch u.State {
	case schedule.Started:
		b.printSkipped()
		if b.overall {
			break
		}
		b.byRun[id] = b.addBar(id.String(), nil, func() string { return state(c, b.tracker.now(), "") })
	case schedule.Waiting:
		b.Print(waitingLine(u))
	case schedule.Again:
		b.Print(againLine(u))
		b.position(id, 0)
	case schedule.Running:
		b.position(id, u.Progress.Fraction())
	case schedule.Finished, schedule.Failed, schedule.Stopped:
		if bar := b.byRun[id]; bar != nil {
			bar.Abort(true)
			delete(b.byRun, id)
		}
		if !b.overall || u.State == schedule.Failed {
			b.Print(endLine(u, now.Sub(c.started)))
		}
	}
	b.all.SetCurrent(position(fraction))
}

// position moves the bar of a run, if it has one.
func (b *bars) position(id store.ID, fraction float64) {
	if bar := b.byRun[id]; bar != nil {
		bar.SetCurrent(position(fraction))
	}
}

func position(fraction float64) int64 { return min(int64(barTotal*fraction), barTotal-1) }

// printSkipped says, once, how many runs were skipped.
func (b *bars) printSkipped() {
	b.tracking.Lock()
	skipped := b.tracker.takeSkipped()
	b.tracking.Unlock()
	if skipped > 0 {
		b.Print(skippedLine(skipped))
	}
}

func (b *bars) Print(line string) { fmt.Fprintln(b.container, printable.Text(line)) }

func (b *bars) Close() {
	b.printSkipped()
	for _, bar := range b.byRun {
		bar.Abort(true)
	}
	b.all.Abort(true)
	b.container.Wait()
}
