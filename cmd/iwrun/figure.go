package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"iwda/experiments/report"
	"iwda/internal/commandline"
	"iwda/internal/convert"
	"iwda/internal/wholefile"
)

func newFigureCommand(s streams) *cli.Command {
	var o experimentOptions
	return &cli.Command{
		Name:      "figure",
		Usage:     "draw the figures of the finished runs",
		UsageText: "iwrun figure -c FILE",
		Description: `The figures show accuracy and weight distance by epoch. For variants with class fractions they show gain and
performance against divergence. They are .svg files in the folder figures of the experiment's results. The command
prints their paths.

Examples:
  iwrun figure -c configs/demo.yaml`,
		Flags:  o.experimentFlags(),
		Action: withoutArguments(func(*cli.Context) error { return runFigure(o, s) }),
	}
}

func runFigure(o experimentOptions, s streams) error {
	file, err := o.load()
	if err != nil {
		return err
	}
	found, err := o.find(file)
	if err != nil {
		return err
	}
	for _, note := range found.Notes {
		fmt.Fprintln(s.err, note)
	}
	folder := filepath.Join(o.Results, file.Config.Experiment, "figures")
	if err := new(wholefile.Disk).MakeFolder(folder); err != nil {
		return fmt.Errorf("cannot create the folder of the figures: %w", err)
	}
	figures, unreadable := report.Figures(found.Runs, file.Config)
	paths := convert.Each(figures, func(f report.Figure) string { return filepath.Join(folder, f.Name+".svg") })
	if err := wholefile.CheckApart(paths, o.Configs); err != nil {
		return commandline.WrongUsage("%v", err)
	}
	for i, path := range paths {
		if err := wholefile.Write(path, figures[i].Write); err != nil {
			return errors.Join(unreadable, err)
		}
		fmt.Fprintln(s.out, path)
	}
	return unreadable
}
