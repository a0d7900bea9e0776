package schedule

import (
	"fmt"
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
