package plan

import (
	"fmt"
	"strconv"
	"time"
)

// Interval says how often a run writes a checkpoint. Whichever comes first counts; a
// zero leaves that kind out.
type Interval struct {
	Epochs int
	Time   time.Duration
}

// Bounds of [ParseInterval].
const (
	mostEpochs      = 1_000_000
	longestInterval = 30 * 24 * time.Hour
)

// ParseInterval reads a number of epochs, as in 2, or a time, as in 10m.
func ParseInterval(text string) (Interval, error) {
	if epochs, err := strconv.Atoi(text); err == nil && epochs > 0 && epochs <= mostEpochs {
		return Interval{Epochs: epochs}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 && d <= longestInterval {
		return Interval{Time: d}, nil
	}
	return Interval{}, fmt.Errorf("%q: want a number of epochs, as in 2 and at most %d, or a time, as in 10m and at most %v", text, mostEpochs, longestInterval)
}
