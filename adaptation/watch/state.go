package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"iwda/inference/monitor"
	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/internal/seal"
	"iwda/internal/system"
	"iwda/internal/wholefile"
	"iwda/weightest/shifttest"
)

// State is all that is kept of batches: how many rows of each had which bin, and the evidence so far.
type State struct {
	Reference Reference   `json:"reference"`
	Level     float64     `json:"level"`
	Alarms    []string    `json:"alarms"`
	Experts   [][]float64 `json:"experts"` // of each alarm: see monitor.Next
	Batches   []Batch     `json:"batches"`

	monitor *monitor.Monitor
	alarms  []monitor.Alarm
}

// Batch is one that was counted.
type Batch struct {
	Name     string    `json:"name"`
	SHA256   string    `json:"sha256"` // half of that of its probabilities
	Time     time.Time `json:"time"`
	Rows     int       `json:"rows"`
	Bins     []int     `json:"bins"`
	Evidence []float64 `json:"evidence"` // natural logarithm of that of each alarm after it
}

// Magic is how the file of a state begins; its seal follows.
const (
	Magic  = `{"format":"iwda watch 1",`
	sealed = Magic + `"sha256":"`
)

// Begin returns a state without batches. MoreChanged is an alarm in any case, as the others are right only
// while it is.
func Begin(r *Reference, alarms []string, level float64) (*State, error) {
	s := &State{Reference: *r, Level: level}
	for _, said := range append(slices.Clip(alarms), string(monitor.MoreChanged)) {
		a, err := ParseAlarm(said, r.Classes)
		if err != nil {
			return nil, err
		}
		if name := text(a, r.Classes); !slices.Contains(s.Alarms, name) {
			s.Alarms = append(s.Alarms, name)
		}
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	s.Experts = s.monitor.Begin()
	return s, nil
}

// prepare sets what follows from what is kept.
func (s *State) prepare() (err error) {
	s.alarms = nil
	for _, said := range s.Alarms {
		a, err := ParseAlarm(said, s.Reference.Classes)
		if err != nil {
			return err
		}
		s.alarms = append(s.alarms, a)
	}
	s.monitor, err = monitor.New(s.Reference.Counts, s.alarms, s.Level)
	return err
}

// Agrees returns an error if a state has another reference, or other alarms or another level than were asked for;
// no alarms and the level 0 ask for nothing.
func (s *State) Agrees(path string, r *Reference, alarms []string, level float64) error {
	switch {
	case s.Reference.SHA256 != r.SHA256 || !slices.Equal(s.Reference.Classes, r.Classes) || s.Reference.Grouped != r.Grouped:
		return fmt.Errorf("%s has other held-out rows, those of %s: what was counted can be compared with these alone; begin a new state in another file", path, s.Reference.Name)
	case level != 0 && level != s.Level:
		return fmt.Errorf("%s has the level %v, and not %v: an alarm is right only if its level stood before the batches; leave --level out, or begin a new state in another file", path, s.Level, level)
	}
	if len(alarms) == 0 {
		return nil
	}
	asked, err := Begin(r, alarms, s.Level)
	if err == nil && !slices.Equal(asked.Alarms, s.Alarms) {
		err = fmt.Errorf("%s has the alarms %q, and not %q: an alarm is right only if it stood before the batches; leave --alarm out, or begin a new state in another file", path, s.Alarms, asked.Alarms)
	}
	return err
}

// Counted returns the batch that has this name or these rows, nil if there is none. One of this name with other
// rows is an error.
func (s *State) counted(b Batch) (*Batch, error) {
	for i := range s.Batches {
		if have := &s.Batches[i]; have.SHA256 == b.SHA256 {
			return have, nil
		} else if have.Name == b.Name {
			return nil, input.Wrong(fmt.Errorf("a batch %q was counted with other rows; give this one another name with --batch", b.Name))
		}
	}
	return nil, nil
}

// Add counts the rows of a batch, unless the batch that is returned has them already.
func (s *State) Add(from Source) (already *Batch, err error) {
	b, err := s.Reference.count(from)
	if err != nil {
		return nil, err
	}
	return s.add(b)
}

func (s *State) add(b Batch) (already *Batch, err error) {
	if already, err = s.counted(b); already != nil || err != nil {
		return already, err
	}
	earlier := convert.Each(s.Batches, func(before Batch) []float64 { return convert.Slice[float64](before.Bins) })
	s.Experts = s.monitor.Next(s.Experts, earlier, convert.Slice[float64](b.Bins))
	b.Evidence = convert.Each(s.Experts, monitor.Evidence)
	s.Batches = append(s.Batches, b)
	return nil, nil
}

// Merge adds the batches of another state of the same reference that were not counted, in their order, and returns
// how many there were.
func (s *State) Merge(path string, other *State) (added int, err error) {
	if other.Reference.SHA256 != s.Reference.SHA256 || !slices.Equal(other.Reference.Classes, s.Reference.Classes) {
		return 0, input.Wrong(fmt.Errorf("%s has other held-out rows, those of %s; states merge if they were begun with the same", path, other.Reference.Name))
	}
	for _, b := range other.Batches {
		already, err := s.add(b)
		if err != nil {
			return added, fmt.Errorf("%s: %w", path, err)
		}
		if already == nil {
			added++
		}
	}
	return added, nil
}

// Sounded returns after which batch each alarm sounded first; −1 for never.
func (s *State) Sounded() []int {
	first := make([]int, len(s.Alarms))
	for i := range first {
		first[i] = slices.IndexFunc(s.Batches, func(b Batch) bool { return b.Evidence[i] >= s.monitor.Threshold() })
	}
	return first
}

// Write writes the state as a file, in one step, with its seal.
func (s *State) Write(disk *wholefile.Disk, path string) error {
	var text bytes.Buffer
	if err := wholefile.JSON(&text, s, ""); err != nil {
		return err
	}
	content := append([]byte(sealed+seal.Zeros+`",`), text.Bytes()[1:]...)
	if err := seal.Set(content, sealed); err != nil {
		return err
	}
	return disk.WriteText(path, string(content))
}

// IsState reports whether a file begins as that of a state.
func IsState(path string) bool {
	file, err := input.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	start := make([]byte, len(Magic))
	n, _ := file.Read(start)
	return string(start[:n]) == Magic
}

// mostBytes bounds the file of a state.
const mostBytes = 256 << 20

// ReadState reads what Write wrote.
func ReadState(path string) (*State, error) {
	content, err := input.Read(path, mostBytes)
	if err != nil {
		return nil, err
	}
	s, err := parseState(content)
	if err != nil {
		return nil, input.Wrong(fmt.Errorf("%s: %w; a copy of it, or the same batches counted again in another file, make it whole", path, err))
	}
	return s, nil
}

func parseState(content []byte) (*State, error) {
	if !bytes.HasPrefix(content, []byte(sealed)) {
		return nil, errors.New("not a state that iwrun watch of this version wrote")
	}
	if err := seal.Check(content, sealed); err != nil {
		return nil, err
	}
	s := &State{}
	if err := json.Unmarshal(content, s); err != nil {
		return nil, err
	}
	return s, s.check()
}

// check returns an error for what no Write wrote, so that all else can rely on it.
func (s *State) check() error {
	k := len(s.Reference.Classes)
	bins := k * shifttest.PerClass
	wrong := k < 2 || len(s.Reference.Counts) != k || len(s.Reference.Limits) != k
	for class := 0; !wrong && class < k; class++ {
		wrong = len(s.Reference.Counts[class]) != bins || len(s.Reference.Limits[class]) != shifttest.PerClass-1 ||
			slices.ContainsFunc(s.Reference.Counts[class], func(n float64) bool { return !(n >= 0) || math.IsInf(n, 1) })
	}
	for _, b := range s.Batches {
		wrong = wrong || len(b.Bins) != bins || len(b.Evidence) != len(s.Alarms) || slices.ContainsFunc(b.Bins, func(n int) bool { return n < 0 })
	}
	if wrong {
		return errors.New("its numbers do not fit each other")
	}
	if err := s.prepare(); err != nil {
		return err
	}
	for i, logs := range s.monitor.Begin() {
		if len(s.Experts) != len(s.Alarms) || len(s.Experts[i]) != len(logs) {
			return errors.New("its evidence is that of another version; begin a new state in another file")
		}
	}
	return nil
}

// Lock waits until no other process watches with the state of the path, and keeps others waiting until release is
// called or the process ends. The file beside the state stays, because a file that is removed while another process
// waits for it would be two locks.
func Lock(ctx context.Context, disk *wholefile.Disk, path string) (release func() error, err error) {
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the state: %w", err)
	}
	for {
		err := disk.Lock(file, system.Exclusive|system.NoWaiting)
		if err == nil {
			return file.Close, nil
		}
		if !errors.Is(err, system.ErrLocked) {
			file.Close()
			return nil, fmt.Errorf("cannot lock %s: %w; put the state on a file system with locks", path, err)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Open reads the state of a path, or begins one if there is none.
func Open(path string, r *Reference, alarms []string, level float64) (*State, error) {
	s, err := ReadState(path)
	if errors.Is(err, fs.ErrNotExist) {
		const usual = 0.05
		if level == 0 {
			level = usual
		}
		s, err = Begin(r, alarms, level)
		return s, input.Wrong(err)
	}
	if err == nil {
		err = input.Wrong(s.Agrees(path, r, alarms, level))
	}
	return s, err
}
