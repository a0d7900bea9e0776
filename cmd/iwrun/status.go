package main

import (
	"github.com/urfave/cli/v2"

	"iwda/experiments/status"
)

// statusOptions say of which runs the state is shown.
type statusOptions struct {
	experimentOptions
	selection
}

func newStatusCommand(s streams) *cli.Command {
	var o statusOptions
	return &cli.Command{
		Name:      "status",
		Usage:     "list which runs are finished, running, failed and left",
		UsageText: "iwrun status -c FILE [-o FOLDER]",
		Description: `The command reads only the folder of results. So the runs may be on another machine. A run is running while its
lock is held. If the disk does not share locks between machines, LAST CHANGE and BY tell what runs elsewhere.

Examples:
  iwrun status -c configs/digits.yaml
  iwrun status -c configs/digits.yaml --only '*/*/iwdan/*'`,
		Flags:  append(o.experimentFlags(), o.selectionFlags()...),
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
	return status.Print(s.out, file.Config.Experiment, status.Inspect(runs, o.Results))
}
