// Package progress shows how far the runs of an experiment have come: bars on a
// terminal, plain lines elsewhere.
package progress

import (
	"io"
	"time"

	"iwda/experiments/schedule"
)

// Display shows updates.
type Display interface {
	// Observe shows an update. It is to be called by one goroutine at a time, as
	// schedule.Options.Observe is.
	Observe(schedule.Update)
	// Print shows a line of text. Any goroutine may call it.
	Print(line string)
	// Close takes away what is not to stay. Nothing may be shown after it.
	Close()
}

// New returns a display of that many runs on w: bars if w is a terminal, plain lines
// otherwise.
func New(w io.Writer, terminal bool, runs int) Display {
	if terminal {
		return newBars(w, runs, time.Now)
	}
	return newLines(w, runs, time.Now)
}
