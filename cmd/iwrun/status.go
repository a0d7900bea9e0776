package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"iwda/experiments/plan"
	"iwda/experiments/status"
	"iwda/experiments/store"
)

// statusOptions say of which runs the state is shown, and how.
type statusOptions struct {
	experimentOptions
	selection
	Format string // text or json
}

func newStatusCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "say which runs are finished, running, failed and left",
		UsageText: "iwrun status -c FILE [-o FOLDER] [--set KEY=VALUE]... [--only GLOB]... [--format text|json]",
		Description: "Reads the folder of results alone, so that it does not matter on which machine the runs are made. A run is running while " +
			"its lock is held. On a disk that does not share locks between machines, LAST CHANGE and BY tell what runs elsewhere.",
		Flags: append(append(experimentFlags(), selectionFlags()...),
			&cli.StringFlag{Name: "format", Value: "text", Usage: "`FORMAT`: text or json"}),
		Action: func(c *cli.Context) error {
			o := statusOptions{experimentOptionsOf(c), selectionOf(c), c.String("format")}
			if o.Format != "text" && o.Format != "json" {
				return wrongUsage(c, "--format %s: text or json", o.Format)
			}
			return withoutArguments(c, func() error { return runStatus(o, s) })
		},
	}
}

func runStatus(o statusOptions, s streams) error {
	file, runs, err := o.loadRuns()
	if err != nil {
		return err
	}
	states, err := o.states(runs, o.Results)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		encoder := json.NewEncoder(s.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Experiment string               `json:"experiment"`
			Counts     map[status.State]int `json:"counts"`
			Runs       []status.Run         `json:"runs"`
		}{file.Config.Experiment, count(states), states})
	}
	return printStates(s.out, file.Config.Experiment, states, time.Now())
}

// states returns those of the selected runs, with their positions in the plan.
func (s selection) states(runs []plan.Run, results string) ([]status.Run, error) {
	chosen, indices, err := s.choose(runs)
	if err != nil {
		return nil, err
	}
	states := status.Inspect(chosen, results)
	for i, index := range indices {
		states[i].Index = index
	}
	return states, nil
}

func count(states []status.Run) map[status.State]int {
	counts := map[status.State]int{}
	for _, run := range states {
		counts[run.State]++
	}
	return counts
}

// printStates prints the number of runs in each state, and a line for each that is not
// finished.
func printStates(w io.Writer, experiment string, states []status.Run, now time.Time) error {
	counts := count(states)
	var parts []string
	for _, state := range status.States() {
		if n := counts[state]; n > 0 || state == status.Finished {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	fmt.Fprintf(w, "%s: %d runs: %s\n", experiment, len(states), strings.Join(parts, ", "))
	if counts[status.Finished] == len(states) {
		return nil
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	described := slices.ContainsFunc(states, func(run status.Run) bool { return run.Certainty.Measured })
	without, columns := "", "" // what is known without labels of the target
	if described {
		columns = "\tSOURCE ACCURACY\tCERTAINTY"
	}
	fmt.Fprintf(table, "INDEX\tRUN\tSTATE\tEPOCH%s\tCHECKPOINT\tLAST CHANGE\tBY\n", columns)
	for _, run := range states {
		if run.State == status.Finished {
			continue
		}
		if described {
			without = "\t" + percentText(run.ValidationAccuracy) + "\t" + percentText(run.Certainty)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%d of %d%s\t%s\t%s\t%s\n", run.Index, run.ID, run.State,
			run.Epoch, run.Epochs, without, checkpointText(run.CheckpointStep), ageText(run.Changed, now), orDash(run.Holder))
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

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
