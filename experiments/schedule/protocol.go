package schedule

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"iwda/experiments/plan"
	"iwda/internal/throttle"
)

// StoppedStatus is the exit status of a worker that was asked to stop and did.
const StoppedStatus = 130

// The kinds of events.
const (
	progressEvent = "progress"
	aliveEvent    = "alive"
	doneEvent     = "done"
	failedEvent   = "failed"
	logEvent      = "log" // a line for the run's log
)

// event is a line of a worker's standard output, as JSON.
type event struct {
	Kind string `json:"event"`
	Run  int    `json:"run,omitempty"` // its place among the worker's folders
	plan.Progress
	Reason string `json:"reason,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Reporter tells the parent of a worker what happens to a run. Its methods may be called by
// several goroutines at once.
type Reporter struct {
	events *eventWriter
	run    int
	alive  *throttle.Throttle
}

// eventWriter writes the events of all runs of a worker, one at a time.
type eventWriter struct {
	writing sync.Mutex
	encoder *json.Encoder
}

// NewReporters returns those of a worker's runs, in the order of their folders, which write to
// w, its standard output. Errors of w are passed over: a worker without a parent has nobody to
// tell.
func NewReporters(w io.Writer, runs int) []*Reporter {
	events := &eventWriter{encoder: json.NewEncoder(w)}
	reporters := make([]*Reporter, runs)
	for i := range reporters {
		reporters[i] = &Reporter{events: events, run: i, alive: throttle.Every(aliveInterval)}
	}
	return reporters
}

// Progress reports how far the run has come.
func (r *Reporter) Progress(p plan.Progress) { r.report(event{Kind: progressEvent, Progress: p}) }

// aliveInterval is the least time between two events that say no more than that work
// goes on.
const aliveInterval = time.Second

// Alive reports that a piece of work other than a step is done: a batch evaluated, an
// image read. It may be called for every one of them, as most calls do nothing. It must
// be called by what works, never by a clock: a parent takes a worker without events
// for one that hangs.
func (r *Reporter) Alive() {
	if r.alive.Due() {
		r.report(event{Kind: aliveEvent})
	}
}

// Done reports that the run is finished and its result written.
func (r *Reporter) Done() { r.report(event{Kind: doneEvent}) }

// Failed reports why the run failed.
func (r *Reporter) Failed(reason error) {
	r.report(event{Kind: failedEvent, Reason: reason.Error()})
}

// Log returns what writes to the run's log, for a worker of several runs, whose standard
// error goes to all of their logs.
func (r *Reporter) Log() io.Writer { return logWriter{r} }

type logWriter struct{ reporter *Reporter }

func (l logWriter) Write(text []byte) (int, error) {
	l.reporter.report(event{Kind: logEvent, Text: string(text)})
	return len(text), nil
}

func (r *Reporter) report(e event) {
	e.Run = r.run
	r.events.writing.Lock()
	defer r.events.writing.Unlock()
	r.events.encoder.Encode(e)
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
	kinds := []string{progressEvent, aliveEvent, doneEvent, failedEvent, logEvent}
	var e event
	whole := bytes.HasSuffix(line, []byte("\n"))
	return e, whole && json.Unmarshal(line, &e) == nil && slices.Contains(kinds, e.Kind)
}
