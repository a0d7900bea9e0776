package schedule

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"iwda/experiments/engine"
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// StoppedStatus is the exit status of a worker that was asked to stop and did.
const StoppedStatus = 130

// The kinds of events.
const (
	progressEvent = "progress"
	failedEvent   = engine.Failed
)

// event is a line of a worker's standard output, as JSON.
type event struct {
	Kind string `json:"event"`
	plan.Progress
	Reason string `json:"reason,omitempty"`
}

// report writes an event on a worker's standard output. Errors of that are passed over: a worker without a parent has
// nobody to tell.
func report(output io.Writer, e event) { json.NewEncoder(output).Encode(e) }

// Work makes the run of a folder, which has its config.yaml, in this process, which is a worker: it reports to its parent
// on out, and calls gone when in ends, which tells that the parent died. Progress is to be called by one goroutine at a
// time.
func Work(folder string, in io.Reader, out io.Writer, gone func(), makeRun func(run plan.Run, dir store.Dir, progress func(plan.Progress)) error) error {
	go func() {
		io.Copy(io.Discard, in)
		gone()
	}()
	run, dir, err := plan.Open(folder)
	if err == nil {
		err = dir.Begin()
	}
	if err == nil {
		err = makeRun(run, dir, func(p plan.Progress) { report(out, event{Kind: progressEvent, Progress: p}) })
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		report(out, event{Kind: failedEvent, Reason: err.Error()})
	}
	return err
}

// lineBuffer is the length in bytes above which a line cannot be an event.
const lineBuffer = 1 << 16

// readEvents reads to the end of a worker's output. It calls heard for each event,
// and copies what is none to others.
func readEvents(output io.Reader, others io.Writer, heard func(event)) {
	reader := bufio.NewReaderSize(output, lineBuffer)
	for {
		line, err := reader.ReadSlice('\n')
		e, ok := parseEvent(line)
		if ok {
			heard(e)
		} else {
			others.Write(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func parseEvent(line []byte) (event, bool) {
	kinds := []string{progressEvent, failedEvent}
	var e event
	whole := bytes.HasSuffix(line, []byte("\n"))
	return e, whole && json.Unmarshal(line, &e) == nil && slices.Contains(kinds, e.Kind)
}
