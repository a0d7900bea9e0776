package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/report"
	"iwda/internal/wholefile"
)

func newFigureCommand(s streams) *cli.Command {
	var o experimentOptions
	var chosen string
	formats := strings.Join(report.FigureFormats(), ",")
	return &cli.Command{
		Name:      "figure",
		Usage:     "draw the figures of the finished runs",
		UsageText: "iwrun figure -c FILE [--format FORMATS]",
		Description: `The figures show accuracy and weight distance by epoch. For variants with class fractions they show gain and
performance against divergence. The files go into the folder figures of the experiment's results. The command prints
their paths.

Examples:
  iwrun figure -c configs/demo.yaml
  iwrun figure -c configs/demo.yaml --format svg`,
		Flags: append(o.experimentFlags(), &cli.StringFlag{Name: "format", Destination: &chosen, Value: formats, Usage: "`FORMATS`, separated by commas"}),
		Action: withoutArguments(func(*cli.Context) error {
			for format := range strings.SplitSeq(chosen, ",") {
				if !slices.Contains(report.FigureFormats(), format) {
					return wrongUsage("--format %s: %s", chosen, formats)
				}
			}
			return runFigure(o, strings.Split(chosen, ","), s)
		}),
	}
}

func runFigure(o experimentOptions, formats []string, s streams) error {
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
	var paths []string
	for _, f := range figures {
		for _, format := range formats {
			paths = append(paths, filepath.Join(folder, f.Name+"."+format))
		}
	}
	if err := wholefile.CheckApart(paths, o.Configs); err != nil {
		return wrongUsage("%v", err)
	}
	for i, path := range paths {
		f, format := figures[i/len(formats)], formats[i%len(formats)]
		if err := wholefile.Write(path, func(w io.Writer) error { return f.Write(w, format) }); err != nil {
			return errors.Join(unreadable, err)
		}
		fmt.Fprintln(s.out, path)
	}
	return unreadable
}
