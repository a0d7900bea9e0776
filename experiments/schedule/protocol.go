package schedule

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

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

// Reporter tells the parent of a worker what happens to its run. Its methods may be called by
// several goroutines at once.
type Reporter struct {
	writing sync.Mutex
	encoder *json.Encoder
}

// NewReporter returns one that writes to w, the worker's standard output. Errors of w are passed
// over: a worker without a parent has nobody to tell.
func NewReporter(w io.Writer) *Reporter {
	return &Reporter{encoder: json.NewEncoder(w)}
}

// Progress reports how far the run has come.
func (r *Reporter) Progress(p plan.Progress) { r.report(event{Kind: progressEvent, Progress: p}) }

// Failed reports why the run failed.
func (r *Reporter) Failed(reason error) {
	r.report(event{Kind: failedEvent, Reason: reason.Error()})
}

// Work makes the run of a folder, which has its config.yaml, in this process, which is a worker: it reports to its parent
// on out, and calls gone when in ends, which tells that the parent died.
func Work(folder string, in io.Reader, out io.Writer, gone func(), makeRun func(plan.Run, store.Dir, *Reporter) error) error {
	go func() {
		io.Copy(io.Discard, in)
		gone()
	}()
	reporter := NewReporter(out)
	run, dir, err := plan.Open(folder)
	if err == nil {
		err = dir.Begin()
	}
	if err == nil {
		err = makeRun(run, dir, reporter)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		reporter.Failed(err)
	}
	return err
}

func (r *Reporter) report(e event) {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.encoder.Encode(e)
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
