package status

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"iwda/experiments/store"
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
	described := slices.ContainsFunc(states, func(run Run) bool { return run.Progress != nil && run.Certainty.Measured })
	without, columns := "", "" // what is known without labels of the target
	if described {
		columns = "\tSOURCE ACCURACY\tCERTAINTY"
	}
	fmt.Fprintf(table, "INDEX\tRUN\tSTATE\tEPOCH%s\tCHECKPOINT\tLAST CHANGE\tBY\n", columns)
	for _, run := range states {
		if run.State == Finished {
			continue
		}
		if described {
			without = "\t" + percentText(run.ValidationAccuracy) + "\t" + percentText(run.Certainty)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%d of %d%s\t%s\t%s\t%s\n", run.Index, run.ID, run.State,
			run.Epoch, run.Epochs, without, checkpointText(run.CheckpointStep), ageText(run.Changed, now), cmp.Or(run.Holder, "-"))
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

func percentText(share store.Optional[float64]) string {
	if !share.Measured {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100*share.Value)
}

func checkpointText(step int) string {
	if step == 0 {
		return "-"
	}
	return fmt.Sprintf("step %d", step)
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
