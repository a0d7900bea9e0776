// Package status tells from the folders of results alone how far an experiment is: no
// process is asked, so that it does not matter where runs are made.
package status

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/input"
	"iwda/internal/parallel"
	"iwda/internal/printable"
)

// State is what a run's folder says about it.
type State string

// The states of a run, in the order in which they are shown.
const (
	Finished State = "finished" // with the present configuration
	Running  State = "running"  // its lock is held
	Failed   State = "failed"   // and is not being made again
	Left     State = "left"     // not begun, or interrupted
	Other    State = "other"    // its folder holds work with another configuration
)

// Run is a run's state, and how far it is unless it is finished. Of a finished one there are only
// Index, ID and State.
type Run struct {
	Index  int // in the experiment's plan
	ID     string
	State  State
	Reason string // why it failed, or what is wrong with its folder
	// Holder is the process that makes the run, or that made it last: pid and host.
	Holder string
	// Epoch is that of the last evaluation on the disk, of Epochs.
	Epoch, Epochs int
	// Changed is when the run wrote a file last; zero if it never did.
	Changed time.Time
}

// atOnce is the number of folders that are read at a time: on a network's disk, reading
// is waiting.
const atOnce = 16

// Inspect returns the states of the runs whose folders lie below results, in their
// order.
func Inspect(runs []plan.Run, results string) []Run {
	states := make([]Run, len(runs))
	parallel.Each(atOnce, len(runs), func(_, i int) { states[i] = inspect(runs[i], results) })
	return states
}

// Unfinished returns the indices of the runs that are to be made, by those that are neither
// finished nor running. Work of another configuration is an error, unless it may be
// overwritten.
func Unfinished(states []Run, overwrite bool) (indices []int, err error) {
	if n := Count(states)[Other]; n > 0 && !overwrite {
		first := states[slices.IndexFunc(states, func(run Run) bool { return run.State == Other })]
		return nil, fmt.Errorf("the folders of %d runs hold work of another configuration, the first is %s: %s\nchoose another folder with -o, "+
			"or begin these runs anew with --overwrite, which removes what is there; iwrun status lists them", n, first.ID, first.Reason)
	}
	for _, run := range states {
		if run.State != Finished && run.State != Running {
			indices = append(indices, run.Index)
		}
	}
	return indices, nil
}

func inspect(run plan.Run, results string) Run {
	dir := run.Dir(results)
	s := Run{Index: run.Index, ID: run.ID.String()}
	_, finished, err := dir.Finished(run.Config.Hash())
	if finished {
		s.State = Finished
		return s
	}
	s.Epochs = run.Config.Train.Evaluations()
	s.follow(dir)
	holder, locked, lockErr := dir.Locked()
	message, failed, failureErr := dir.ReadFailure()
	differences, _ := run.Conflict(dir) // what cannot be told is no difference
	switch {
	case locked:
		s.State, s.Holder = Running, holder
	case len(differences) > 0:
		s.State, s.Reason = Other, strings.Join(differences, "; ")
	case failed:
		s.State, s.Reason = Failed, message
	default:
		s.State = Left
		if err := errors.Join(err, lockErr, failureErr); err != nil {
			s.Reason = err.Error()
		}
	}
	return s
}

// follow fills in how far the run's files are. What cannot be read counts as not there:
// a run in the making may be about to replace it.
func (s *Run) follow(dir store.Dir) {
	if metrics, err := dir.ReadMetrics(); err == nil && len(metrics) > 0 {
		s.Epoch = metrics[len(metrics)-1].Epoch
	}
	text, _ := input.Read(dir.Path(store.LockFile), input.Words)
	s.Holder = strings.TrimSpace(string(text))
	for _, name := range []string{store.MetricsFile, store.CheckpointFile, store.LogFile} {
		if info, err := os.Stat(dir.Path(name)); err == nil && info.ModTime().After(s.Changed) {
			s.Changed = info.ModTime()
		}
	}
}

// Count returns how many runs are in each state.
func Count(states []Run) map[State]int {
	counts := map[State]int{}
	for _, run := range states {
		counts[run.State]++
	}
	return counts
}

// Print prints the number of runs in each state, and a line for each that is not
// finished, which begins with its index and id: scripts of Slurm read these.
func Print(w io.Writer, experiment string, states []Run) error {
	counts := Count(states)
	var parts []string
	for _, state := range []State{Finished, Running, Failed, Left, Other} {
		if n := counts[state]; n > 0 || state == Finished {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	fmt.Fprintf(w, "%s: %s: %s\n", experiment, printable.Count(len(states), "run"), strings.Join(parts, ", "))
	if counts[Finished] == len(states) {
		return nil
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "INDEX\tRUN\tSTATE\tEPOCH\tLAST CHANGE\tBY")
	for _, run := range states {
		if run.State == Finished {
			continue
		}
		changed := "-"
		if !run.Changed.IsZero() {
			changed = run.Changed.Format(time.DateTime)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%d of %d\t%s\t%s\n", run.Index, run.ID, run.State, run.Epoch, run.Epochs, changed, cmp.Or(run.Holder, "-"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, run := range states {
		if run.Reason != "" {
			fmt.Fprintf(w, "\n%s: %s: %s\n", run.State, run.ID, strings.ReplaceAll(run.Reason, "\n", "\n        | "))
		}
	}
	return nil
}
