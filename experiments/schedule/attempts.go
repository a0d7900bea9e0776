package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"iwda/experiments/engine"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/input"
)

// job is a run on its way.
type job struct {
	index  int // in the plan
	run    plan.Run
	dir    store.Dir
	lock   *store.Lock
	device string
}

// carryOut makes a run with as many workers as it takes and may take, and returns how it ended.
func (s *scheduler) carryOut(ctx context.Context, j job) Update {
	s.observe(Update{Run: j.run, State: Started})
	err := otherConfiguration(j.run, j.dir)
	if err != nil && s.options.Overwrite {
		err = j.dir.Clear()
	}
	if err != nil {
		return s.failed(j.run, Failure{Reason: err.Error(), untouched: true})
	}
	reason := "started once more"
	attempts := 1 + s.options.Retries
	for attempt := 1; ; attempt++ {
		result, err := s.work(ctx, j, reason)
		var failure Failure
		switch {
		case err == nil:
			return Update{Run: j.run, State: Finished, Result: result}
		case errors.Is(err, errStopped):
			return Update{Run: j.run, State: Stopped}
		case !errors.As(err, &failure):
			failure = Failure{Reason: err.Error()}
		}
		failure.Attempts = attempt
		if !failure.died || attempt == attempts || ctx.Err() != nil {
			return s.failed(j.run, failure)
		}
		reason = fmt.Sprintf("attempt %d of %d, because %s", attempt+1, attempts, failure.Reason)
		s.observe(Update{Run: j.run, State: Again, Reason: failure.Reason, Attempt: attempt + 1, Attempts: attempts})
	}
}

// errStopped is the error of a run whose worker stopped because it was asked to.
var errStopped = errors.New("stopped")

// Failure is a run that failed.
type Failure struct {
	Run    plan.Run
	Reason string
	// Attempts is the number of workers that were started.
	Attempts int
	// LogEnd are the last lines of the log where the worker died without a word.
	LogEnd []string
	Log    string // path of log.txt; empty if no worker was started, which would have written it

	died      bool // without saying why, so that another worker may do better
	untouched bool // the folder is to stay as it is
}

// Error returns the reason, the attempts if there were several, and the end of the log. It
// doesn't name the run.
func (f Failure) Error() string {
	reason := f.Reason
	if f.Attempts > 1 {
		first, rest, _ := strings.Cut(reason, "\n")
		reason = strings.TrimSpace(fmt.Sprintf("%s (%d attempts)\n%s", first, f.Attempts, rest))
	}
	return strings.Join(append([]string{reason}, f.LogEnd...), "\n")
}

// describe says how a worker ended that did not say itself why it failed.
func describe(state *os.ProcessState) string {
	switch _, died := engine.DeathSignal(state); {
	case !died && state.ExitCode() == StoppedStatus:
		return "the worker was stopped by someone else"
	case state.Success():
		return "the worker ended without a result"
	}
	return "the worker " + engine.Ending(state)
}

// openLog opens a run's log for a worker. What former workers said stays, and a line
// with the reason for another one is put behind it. The offset is where the words of
// this worker begin.
func openLog(dir store.Dir, reason string) (log *os.File, offset int64, err error) {
	log, err = os.OpenFile(dir.Path(store.LogFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot open the log: %w", err)
	}
	offset, err = log.Seek(0, io.SeekEnd)
	if err == nil && offset > 0 {
		_, err = fmt.Fprintf(log, "\n--- %s: %s ---\n", time.Now().Format(time.DateTime), reason)
	}
	if err == nil {
		offset, err = log.Seek(0, io.SeekEnd)
	}
	if err != nil {
		log.Close()
		return nil, 0, fmt.Errorf("cannot write the log: %w", err)
	}
	return log, offset, nil
}

const (
	logRead  = 1 << 16 // bytes at the end of a log in which its last words are sought
	logLines = 5       // lines of a log that a failure quotes
	logWidth = 200     // bytes of a line that a failure quotes
)

// goPanic begins the line with which a Go program panics.
const goPanic = "panic: "

// lastWords begin the lines with which a Go or C++ program dies. What follows them,
// stacks and registers, matters less.
var lastWords = []string{goPanic, "fatal error: ", "terminate called", "SIG"}

// logEnd returns the lines of a log behind the offset that say most about its end:
// those from the first last words on, otherwise the last ones.
func logEnd(path string, offset int64) []string {
	text, err := readEnd(path, offset)
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line[:min(len(line), logWidth)])
		}
	}
	for i, line := range lines {
		for _, words := range lastWords {
			if strings.HasPrefix(line, words) {
				return lines[i:min(i+logLines, len(lines))]
			}
		}
	}
	return lines[max(0, len(lines)-logLines):]
}

// readEnd returns the last bytes of a file, logRead at most and none before the offset.
func readEnd(path string, offset int64) (string, error) {
	file, err := input.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	start := max(offset, size-logRead)
	text, err := io.ReadAll(io.NewSectionReader(file, start, max(0, size-start)))
	return string(text), err
}
