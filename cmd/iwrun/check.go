package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"iwda/experiments/check"
	"iwda/internal/input"
	"iwda/internal/printable"
)

func newCheckCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "say which files of runs and models are damaged",
		UsageText: "iwrun check FOLDER…",
		Description: `The command verifies checksums, and whether files belong together. It also finds what dead processes left behind, and
says what to do. It changes nothing and skips runs in progress. The exit status is 1 if something was found.

Examples:
  iwrun check results
  iwrun check adapt-out`,
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return wrongUsage("name a folder, such as results")
			}
			found := 0
			for _, folder := range c.Args().Slice() {
				if err := checkFolder(folder); err != nil {
					return input.Wrong(err)
				}
				report, err := check.Folder(folder)
				if err == nil && report.Empty() {
					err = nothingOf(folder)
				}
				if err != nil {
					return input.Wrong(err)
				}
				for _, f := range report.Findings {
					fmt.Fprintf(s.out, "%s: %s\n    %s\n", f.Path, f.What, f.Do)
				}
				fmt.Fprintf(s.err, "%s: %s; runs: %d finished, %d unfinished, %d running; %d models, %d of them without a checksum\n",
					folder, printable.Count(len(report.Findings), "finding"), report.Finished, report.Unfinished, report.Running, report.Models, report.Unsealed)
				found += len(report.Findings)
			}
			if found > 0 {
				return statusError(statusFailed)
			}
			return nil
		},
	}
}
