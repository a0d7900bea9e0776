package train

import (
	"fmt"
	"io"

	"iwda/experiments/plan"
	"iwda/torch"
)

// Options are what a run is told beside its configuration. None of them changes a
// result, but the last bits of it: devices and numbers of threads add in other orders.
type Options struct {
	Device   torch.Device
	Threads  int                 // of libtorch; 0 means 1
	Progress func(plan.Progress) // called a few times a second, never concurrently; may be nil
	Log      io.Writer           // takes a line for each noteworthy event; nil discards them
	// Alive is called after every piece of work that is no step, as a batch evaluated;
	// it may be nil.
	Alive func()
	// Checkpoints says when the run writes one besides those when it is cancelled and
	// at its end.
	Checkpoints plan.Interval

	asBytes  bool // images go to the device as bytes even where that is a CPU
	captured bool // steps are made as those that a GPU captures even where the device is a CPU
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
