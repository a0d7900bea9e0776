package schedule

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"iwda/experiments/store"
	"iwda/internal/wholefile"
)

// A log that has grown past logLimit bytes keeps its last logKept ones when another
// worker starts, so that a run may be started any number of times.
const (
	logLimit = 1 << 20
	logKept  = 1 << 18
)

// openLog opens a run's log for a worker. What former workers said stays, and a line
// with the reason for another one is put behind it. The offset is where the words of
// this worker begin.
func openLog(dir store.Dir, reason string) (log *os.File, offset int64, err error) {
	path := dir.Path(store.LogFile)
	if err := trimLog(path); err != nil {
		return nil, 0, err
	}
	log, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
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

// trimLog removes the first part of a log that is too long.
func trimLog(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= logLimit {
		return nil // what is wrong with a log shows when it is opened
	}
	end, err := readEnd(path, 0, logKept)
	if err != nil {
		return fmt.Errorf("cannot shorten the log: %w", err)
	}
	if _, whole, ok := strings.Cut(end, "\n"); ok { // the first line is cut
		end = whole
	}
	return wholefile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "--- earlier lines were removed ---\n"+end)
		return err
	})
}
