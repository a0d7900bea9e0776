package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"iwda/experiments/report"
)

func newFigureCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "figure",
		Usage:       "draw accuracy and weight distance by epoch, as PNG and SVG",
		UsageText:   "iwrun figure -c FILE [-o FOLDER] [--set KEY=VALUE]...",
		Description: "Writes into figures/ in the experiment's folder of results and prints the paths.",
		Flags:       experimentFlags(),
		Action: func(c *cli.Context) error {
			return withoutArguments(c, func() error { return runFigure(experimentOptionsOf(c), s) })
		},
	}
}

func runFigure(o experimentOptions, s streams) error {
	file, err := o.load()
	if err != nil {
		return err
	}
	finished, notes, err := finishedRuns(file, o.Results, s.err)
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(s.err, note)
	}
	folder := filepath.Join(o.Results, file.Config.Experiment, "figures")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("cannot create the folder of the figures: %w", err)
	}
	paths, err := report.WriteCurves(finished, file.Config, folder)
	for _, path := range paths {
		fmt.Fprintln(s.out, path)
	}
	return err
}
