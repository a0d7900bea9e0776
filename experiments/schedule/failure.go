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
	// LogEnd are the last lines of the log where the worker died without a word.
	LogEnd []string
	Log    string // path of log.txt
}

// Error returns the reason and the end of the log.
func (f Failure) Error() string {
	return strings.Join(append([]string{f.Reason}, f.LogEnd...), "\n")
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

// logEnd returns the lines of a log that say most about its end: those from the
// first last words on, otherwise the last ones.
func logEnd(path string) []string {
	text, err := readEnd(path)
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

func readEnd(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	if _, err := file.Seek(max(0, size-logRead), io.SeekStart); err != nil {
		return "", err
	}
	text, err := io.ReadAll(file)
	return string(text), err
}
