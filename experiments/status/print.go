package status

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"iwda/internal/printable"
)

// Count returns how many runs are in each state.
func Count(states []Run) map[State]int {
	counts := map[State]int{}
	for _, run := range states {
		counts[run.State]++
	}
	return counts
}

// Print prints the number of runs in each state, and a line for each that is not
// finished.
func Print(w io.Writer, experiment string, states []Run, now time.Time) error {
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
		fmt.Fprintf(table, "%d\t%s\t%s\t%d of %d\t%s\t%s\n", run.Index, run.ID, run.State, run.Epoch, run.Epochs, ageText(run.Changed, now), cmp.Or(run.Holder, "-"))
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

// ageText says how long ago something was, to two units at most.
func ageText(when *time.Time, now time.Time) string {
	if when == nil {
		return "-"
	}
	age := max(0, now.Sub(*when))
	switch {
	case age < time.Minute:
		return fmt.Sprintf("%d s ago", int(age.Seconds()))
	case age < time.Hour:
		return fmt.Sprintf("%d min ago", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h %d min ago", int(age.Hours()), int(age.Minutes())%60)
	}
	return fmt.Sprintf("%d days ago", int(age.Hours()/24))
}
