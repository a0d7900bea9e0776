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
	"iwda/experiments/report/figure"
	"iwda/experiments/report/summary"
	"iwda/internal/wholefile"
)

// figureOptions say in which formats the figures are drawn.
type figureOptions struct {
	experimentOptions
	Formats []string
}

func newFigureCommand(s streams) *cli.Command {
	formats := strings.Join(figure.Formats(), ",")
	return &cli.Command{
		Name:        "figure",
		Usage:       "draw the figures of the finished runs",
		UsageText:   "iwrun figure -c FILE [-o FOLDER] [--set KEY=VALUE]... [--format png,svg]",
		Description: "Writes into figures/ in the experiment's folder of results and prints the paths: accuracy and weight distance by epoch, class weights, predictions by class; where source rows are held out, what criteria choose without labels of the target; for variants with class fractions gain and performance against divergence.",
		Flags:       append(experimentFlags(), &cli.StringFlag{Name: "format", Value: formats, Usage: "`FORMATS`, with commas between"}),
		Action: func(c *cli.Context) error {
			o := figureOptions{experimentOptionsOf(c), strings.Split(c.String("format"), ",")}
			for _, format := range o.Formats {
				if !slices.Contains(figure.Formats(), format) {
					return wrongUsage(c, "--format %s: %s", c.String("format"), formats)
				}
			}
			return withoutArguments(c, func() error { return runFigure(o, s) })
		},
	}
}

func runFigure(o figureOptions, s streams) error {
	file, err := o.load()
	if err != nil {
		return err
	}
	found, err := findRuns(file, o.Results)
	if err != nil {
		return err
	}
	found.warn(s.err)
	for _, note := range found.notes {
		fmt.Fprintln(s.err, note)
	}
	folder := filepath.Join(o.Results, file.Config.Experiment, "figures")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("cannot create the folder of the figures: %w", err)
	}
	figures, unreadable := figure.All(found.runs, file.Config)
	switch selection, err := selectionFigure(found, file.Config); {
	case err == nil:
		figures = append(figures, selection)
	case !errors.Is(err, figure.ErrNoData):
		unreadable = errors.Join(unreadable, err)
	}
	if err := wholefile.CheckApart(figure.Paths(figures, folder, o.Formats...), o.Configs); err != nil {
		return usageError(err.Error(), "iwrun figure -c FILE -o FOLDER")
	}
	paths, err := figure.WriteAll(figures, folder, o.Formats...)
	for _, path := range paths {
		fmt.Fprintln(s.out, path)
	}
	return errors.Join(unreadable, err)
}

// selectionFigure draws what criteria choose among the runs without labels of the target. Its
// error wraps figure.ErrNoData where no run left anything to choose by.
func selectionFigure(found foundRuns, experiment config.Config) (figure.Figure, error) {
	c, err := summary.CompareCriteria(found.runs, experiment)
	if err != nil {
		return figure.Figure{}, err
	}
	return figure.Criteria(c)
}
