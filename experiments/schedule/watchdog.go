package schedule

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"iwda/internal/system"
)

// patience is the number of ticks without a sign of life after which a worker counts as
// hanging.
const patience = 10

// watchdog notices that a worker hangs. It counts ticks and never looks at a clock:
// neither a change of the system's time nor a pause of this process, in which the
// worker's events wait to be read and all ticks but one are lost, makes it bite.
type watchdog struct {
	alive  atomic.Bool // since the last tick
	bitten atomic.Bool
}

// watch calls bite when patience has come to its end, and returns then or when the
// worker has ended.
func (w *watchdog) watch(ticks <-chan time.Time, ended <-chan struct{}, bite func()) {
	for silent := 0; silent < patience; { // ticks without a sign of life
		select {
		case <-ticks:
		case <-ended:
			return
		}
		if silent++; w.alive.Swap(false) {
			silent = 0
		}
	}
	w.bitten.Store(true)
	bite()
}

// guard ends the worker once it has given no sign of life for that long. Zero means
// never.
func (w *watchdog) guard(stall time.Duration, worker *os.Process, ended <-chan struct{}) {
	if stall <= 0 {
		return
	}
	ticker := time.NewTicker(max(1, stall/patience))
	defer ticker.Stop()
	w.watch(ticker.C, ended, func() { endHanging(worker, ended) })
}

// dumpTime is what a hanging worker gets to write its stacks into the log.
const dumpTime = 5 * time.Second

// endHanging ends a worker.
func endHanging(worker *os.Process, ended <-chan struct{}) {
	system.AskStacks(worker)
	select {
	case <-ended:
	case <-time.After(dumpTime):
		worker.Kill()
	}
}

// silence says what the watchdog noticed.
func silence(stall time.Duration) string {
	return fmt.Sprintf("no sign of life for %s: the worker hung and was ended; the log shows what it was at", short(stall))
}

// short returns a duration without last units that are zero: 30m, not 30m0s.
func short(d time.Duration) string {
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
}
