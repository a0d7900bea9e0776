package schedule

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"iwda/experiments/plan"
)

// Failure is a run that failed.
type Failure struct {
	Run    plan.Run
	Reason string
	// Attempts is the number of workers that were started.
	Attempts int
	// LogEnd are the last lines of the log where the worker died without a word.
	LogEnd []string
	Log    string // path of log.txt

	died      bool // without saying why, so that another worker may do better
	untouched bool // the folder is to stay as it is
}

// Error returns the reason, the attempts if there were several, and the end of the log.
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
	signal, died := deathSignal(state)
	switch {
	case died && signal == syscall.SIGKILL:
		return "the worker was killed (signal 9), as the system does when memory runs out"
	case died:
		return fmt.Sprintf("the worker died of signal %d (%v)", signal, signal)
	case state.ExitCode() == StoppedStatus:
		return "the worker was stopped by someone else"
	case !state.Success():
		return fmt.Sprintf("the worker ended with exit status %d", state.ExitCode())
	}
	return "the worker ended without a result"
}

const (
	logRead  = 1 << 16 // bytes at the end of a log in which its last words are sought
	logLines = 5       // lines of a log that a failure quotes
	logWidth = 200     // bytes of a line that a failure quotes
)

// lastWords begin the lines with which a Go or C++ program dies. What follows them,
// stacks and registers, matters less.
var lastWords = []string{"panic: ", "fatal error: ", "terminate called", "SIG"}

// logEnd returns the lines of a log behind the offset that say most about its end:
// those from the first last words on, otherwise the last ones.
func logEnd(path string, offset int64) []string {
	text, err := readEnd(path, offset, logRead)
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

// readEnd returns the last bytes of a file, limit at most and none before the offset.
func readEnd(path string, offset, limit int64) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	start := max(offset, size-limit)
	text, err := io.ReadAll(io.NewSectionReader(file, start, max(0, size-start)))
	return string(text), err
}
