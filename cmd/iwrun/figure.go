package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/report/figure"
	"iwda/experiments/report/summary"
	"iwda/internal/wholefile"
)

func newFigureCommand(s streams) *cli.Command {
	var o experimentOptions
	var chosen string
	formats := strings.Join(figure.Formats(), ",")
	return &cli.Command{
		Name:        "figure",
		Usage:       "draw the figures of the finished runs",
		UsageText:   "iwrun figure -c FILE [-o FOLDER] [--set KEY=VALUE]... [--format png,svg]",
		Description: "Writes into figures/ in the experiment's folder of results and prints the paths: accuracy and weight distance by epoch, class weights, predictions by class; where source rows are held out, what criteria choose without labels of the target; for variants with class fractions gain and performance against divergence.",
		Flags:       append(o.experimentFlags(), &cli.StringFlag{Name: "format", Destination: &chosen, Value: formats, Usage: "`FORMATS`, with commas between"}),
		Action: withoutArguments(func(c *cli.Context) error {
			for format := range strings.SplitSeq(chosen, ",") {
				if !slices.Contains(figure.Formats(), format) {
					return wrongUsage(c, "--format %s: %s", chosen, formats)
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
	found, err := plan.Find(file, o.Results)
	if err != nil {
		return err
	}
	warn(found, s.err)
	for _, note := range found.Notes {
		fmt.Fprintln(s.err, note)
	}
	folder := filepath.Join(o.Results, file.Config.Experiment, "figures")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("cannot create the folder of the figures: %w", err)
	}
	figures, unreadable := figure.All(found.Runs, file.Config)
	switch selection, err := selectionFigure(found, file.Config); {
	case err == nil:
		figures = append(figures, selection)
	case !errors.Is(err, figure.ErrNoData):
		unreadable = errors.Join(unreadable, err)
	}
	if err := wholefile.CheckApart(figure.Paths(figures, folder, formats...), o.Configs); err != nil {
		return usageError(err.Error(), "iwrun figure -c FILE -o FOLDER")
	}
	paths, err := figure.WriteAll(figures, folder, formats...)
	for _, path := range paths {
		fmt.Fprintln(s.out, path)
	}
	return errors.Join(unreadable, err)
}

// selectionFigure draws what criteria choose among the runs without labels of the target. Its
// error wraps figure.ErrNoData where no run left anything to choose by.
func selectionFigure(found plan.Found, experiment config.Config) (figure.Figure, error) {
	c, err := summary.CompareCriteria(found.Runs, experiment)
	if err != nil {
		return figure.Figure{}, err
	}
	return figure.Criteria(c)
}
