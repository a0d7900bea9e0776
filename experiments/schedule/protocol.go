package schedule

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
)

// StoppedStatus is the exit status of a worker that was asked to stop and did.
const StoppedStatus = 130

// The kinds of events.
const (
	progressEvent = "progress"
	doneEvent     = "done"
	failedEvent   = "failed"
)

// event is a line of a worker's standard output, as JSON.
type event struct {
	Kind     string   `json:"event"`
	Epoch    int      `json:"epoch,omitempty"`
	Epochs   int      `json:"epochs,omitempty"`
	Step     int      `json:"step,omitempty"`
	Steps    int      `json:"steps,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"` // absent for NaN, which JSON lacks
	Loss     *float64 `json:"loss,omitempty"`
	Reason   string   `json:"reason,omitempty"`
}

// Reporter tells the parent of a worker what happens.
type Reporter struct {
	encoder *json.Encoder
}

// NewReporter returns a Reporter that writes to w, the worker's standard output.
// Errors of w are passed over: a worker without a parent has nobody to tell.
func NewReporter(w io.Writer) *Reporter {
	return &Reporter{json.NewEncoder(w)}
}

// Progress reports how far the run has come.
func (r *Reporter) Progress(p Progress) {
	r.encoder.Encode(event{
		Kind: progressEvent, Epoch: p.Epoch, Epochs: p.Epochs, Step: p.Step, Steps: p.Steps,
		Accuracy: finite(p.Accuracy), Loss: finite(p.Loss),
	})
}

// Done reports that the run is finished and its result written.
func (r *Reporter) Done() { r.encoder.Encode(event{Kind: doneEvent}) }

// Failed reports why the run failed.
func (r *Reporter) Failed(reason error) {
	r.encoder.Encode(event{Kind: failedEvent, Reason: reason.Error()})
}

func finite(value float64) *float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return &value
}

func orNaN(value *float64) float64 {
	if value == nil {
		return math.NaN()
	}
	return *value
}

// lineBuffer is the length in bytes above which a line cannot be an event.
const lineBuffer = 1 << 16

// readEvents reads to the end of a worker's output. It calls progress for each
// report of progress, copies what is no event to others, and returns the last event
// of another kind, or the zero event.
func readEvents(output io.Reader, others io.Writer, progress func(Progress)) event {
	var last event
	reader := bufio.NewReaderSize(output, lineBuffer)
	for {
		line, err := reader.ReadSlice('\n')
		e, ok := parseEvent(line)
		switch {
		case !ok:
			others.Write(line)
		case e.Kind == progressEvent:
			progress(Progress{
				Epoch: e.Epoch, Epochs: e.Epochs, Step: e.Step, Steps: e.Steps,
				Accuracy: orNaN(e.Accuracy), Loss: orNaN(e.Loss),
			})
		default:
			last = e
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return last
		}
	}
}

func parseEvent(line []byte) (event, bool) {
	if !bytes.HasSuffix(line, []byte("\n")) {
		return event{}, false
	}
	var e event
	if json.Unmarshal(line, &e) != nil {
		return event{}, false
	}
	switch e.Kind {
	case progressEvent, doneEvent, failedEvent:
		return e, true
	}
	return event{}, false
}
