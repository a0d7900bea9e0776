package main

import (
	"encoding/json"
	"time"

	"github.com/urfave/cli/v2"

	"iwda/experiments/status"
	"iwda/internal/commandline"
)

// statusOptions say of which runs the state is shown, and how.
type statusOptions struct {
	experimentOptions
	selection
	Format string // text or json
}

func newStatusCommand(s streams) *cli.Command {
	var o statusOptions
	return &cli.Command{
		Name:      "status",
		Usage:     "list which runs are finished, running, failed and left",
		UsageText: "iwrun status -c FILE [-o FOLDER] [--format text|json]",
		Description: `The command reads only the folder of results. So the runs may be on another machine. A run is running while its
lock is held. If the disk does not share locks between machines, LAST CHANGE and BY tell what runs elsewhere.

Examples:
  iwrun status -c configs/digits.yaml
  iwrun status -c configs/digits.yaml --only '*/*/iwdan/*' --format json`,
		Flags:  append(append(o.experimentFlags(), o.selectionFlags()...), commandline.Format(&o.Format, "text", "json")),
		Action: withoutArguments(func(*cli.Context) error { return runStatus(o, s) }),
	}
}

func runStatus(o statusOptions, s streams) error {
	file, runs, err := o.loadRuns()
	if err != nil {
		return err
	}
	if runs, err = o.choose(runs); err != nil {
		return err
	}
	states := status.Inspect(runs, o.Results)
	if o.Format == "json" {
		encoder := json.NewEncoder(s.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Experiment string               `json:"experiment"`
			Counts     map[status.State]int `json:"counts"`
			Runs       []status.Run         `json:"runs"`
		}{file.Config.Experiment, status.Count(states), states})
	}
	return status.Print(s.out, file.Config.Experiment, states, time.Now())
}
