package train

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"iwda/experiments/plan"
	"iwda/torch"
)

// Options are what a run is told beside its configuration. None of them changes a
// result, but the last bits of it: devices and numbers of threads add in other orders.
type Options struct {
	Device  torch.Device
	Threads int // of libtorch; 0 means 1
	// Group is the processes that make the run together, all of which call Run with the
	// same folder, on a disk that they share; nil for this process alone. Its device is
	// Device.
	Group    *torch.ProcessGroup
	Progress func(plan.Progress) // called a few times a second, never concurrently; may be nil
	Log      io.Writer           // takes a line for each noteworthy event; nil discards them
	// Alive is called after every piece of work that is no step, as a batch evaluated;
	// it may be nil.
	Alive func()
	// Checkpoints says when the run writes one besides those when it is cancelled and
	// at its end.
	Checkpoints Interval
	// CheckpointNow asks for a checkpoint after the current step whenever something comes, as
	// from package os/signal; it may be nil.
	CheckpointNow <-chan os.Signal

	asBytes  bool // images go to the device as bytes even where that is a CPU
	recorded bool // steps are made as those that a GPU records even where the device is a CPU
}

func (o Options) alive() {
	if o.Alive != nil {
		o.Alive()
	}
}

// logf writes a line to the log.
func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", args...)
	}
}

// Interval says how often a run writes a checkpoint. Whichever comes first counts; a
// zero leaves that kind out.
type Interval struct {
	Epochs int
	Time   time.Duration
}

// Bounds of [ParseInterval].
const (
	mostEpochs      = 1_000_000
	longestInterval = 30 * 24 * time.Hour
)

// ParseInterval reads a number of epochs, as in 2, or a time, as in 10m.
func ParseInterval(text string) (Interval, error) {
	if epochs, err := strconv.Atoi(text); err == nil && epochs > 0 && epochs <= mostEpochs {
		return Interval{Epochs: epochs}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 && d <= longestInterval {
		return Interval{Time: d}, nil
	}
	return Interval{}, fmt.Errorf("%q: want a number of epochs, as in 2 and at most %d, or a time, as in 10m and at most %v", text, mostEpochs, longestInterval)
}
