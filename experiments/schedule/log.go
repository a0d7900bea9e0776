package schedule

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"iwda/experiments/store"
	"iwda/internal/input"
)

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
