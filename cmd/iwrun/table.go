package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/report"
	"iwda/experiments/report/sheet"
	"iwda/internal/commandline"
)

// tableOptions say which table is printed and how.
type tableOptions struct {
	experimentOptions
	Kind   string
	Format string
}

const (
	averageKind   = "average"
	selectionKind = "selection"
)

func newTableCommand(s streams) *cli.Command {
	var o tableOptions
	kinds := append(report.Kinds(), selectionKind, averageKind)
	return &cli.Command{
		Name:      "table",
		Usage:     "print a table of the finished runs",
		UsageText: "iwrun table -c FILE [--kind KIND] [--format FORMAT]\niwrun table --kind average -c FILE [-c FILE]...",
		Description: `Examples:
  iwrun table -c configs/digits.yaml
  iwrun table -c configs/digits.yaml --kind selection --format csv
  iwrun table --kind average -c configs/digits.yaml -c configs/visda.yaml`,
		Flags: append(o.experimentFlags(), commandline.Format(&o.Format, sheet.Formats()...), &commandline.Choice{Words: kinds, StringFlag: &cli.StringFlag{
			Name: "kind", Destination: &o.Kind, Usage: "`KIND` of table: " + strings.Join(kinds, ", ") + "; average takes several experiments, each with its own -c",
			DefaultText: "accuracy; gains of variants with class fractions; selection without target labels",
		}}),
		Action: withoutArguments(func(*cli.Context) error { return runTable(o, s) }),
	}
}

func runTable(o tableOptions, s streams) error {
	if o.Kind == averageKind {
		return runAverage(o, s)
	}
	file, err := o.load()
	if err != nil {
		return err
	}
	return o.printTable(file, o.Kind, o.Format, s)
}

// printTable prints a table of the experiment's finished runs.
func (o experimentOptions) printTable(file *config.File, kind, format string, s streams) error {
	found, err := o.find(file)
	if err != nil {
		return err
	}
	var built sheet.Sheet
	if kind == selectionKind || kind == "" && report.Select(found.Runs, file.Config).OnlyWithoutLabels() {
		if built, err = report.Criteria(found.Runs, file.Config); err != nil {
			return err
		}
	} else {
		built = report.Table(kind, found.Runs, file.Config)
	}
	built.Notes = append(built.Notes, found.Notes...)
	return built.Write(s.out, format)
}

// runAverage prints the averages of several experiments side by side. Those without a
// finished run are named in a note.
func runAverage(o tableOptions, s streams) error {
	files, err := o.loadAll()
	if err != nil {
		return err
	}
	var experiments []report.Selection
	var notes []string
	for _, file := range files {
		found, err := o.find(file)
		if err != nil {
			if len(files) == 1 {
				return err
			}
			notes = append(notes, fmt.Sprintf("%s: %v.", file.Name, err))
			continue
		}
		experiments = append(experiments, report.Select(found.Runs, file.Config))
		notes = append(notes, found.Notes...)
	}
	if len(experiments) == 0 {
		return fmt.Errorf("%w: %s", plan.ErrNothingFinished, strings.Join(notes, " "))
	}
	built := report.Average(experiments)
	built.Notes = append(built.Notes, notes...)
	return built.Write(s.out, o.Format)
}
