package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/experiments/report/table"
	"iwda/experiments/store"
	"iwda/internal/commandline"
)

// tableOptions say which table is printed and how.
type tableOptions struct {
	experimentOptions
	Kind   string
	Format string
}

func formatFlag() cli.Flag { return commandline.FormatFlag(sheet.Formats()) }

// checkFormat returns an error if --format names no format of tables.
func checkFormat(c *cli.Context) error { return commandline.CheckFormat(c, sheet.Formats()) }

const (
	averageKind   = "average"
	selectionKind = "selection"
)

func newTableCommand(s streams) *cli.Command {
	kinds := strings.Join(append(table.Kinds(), selectionKind, averageKind), ", ")
	return &cli.Command{
		Name:      "table",
		Usage:     "print a table of the finished runs",
		UsageText: "iwrun table -c FILE [-o FOLDER] [--set KEY=VALUE]... [--kind KIND] [--format md|tex|csv|json]\niwrun table --kind average -c FILE [-c FILE]... [options]",
		Flags: append(experimentFlags(), formatFlag(), &cli.StringFlag{
			Name: "kind", Usage: "`KIND` of table: " + kinds + "; average takes several experiments, each with its own -c",
			DefaultText: "accuracy, or gains where the variants have class fractions",
		}),
		Action: func(c *cli.Context) error {
			if err := checkFormat(c); err != nil {
				return err
			}
			o := tableOptions{experimentOptionsOf(c), c.String("kind"), c.String("format")}
			if o.Kind != "" && o.Kind != averageKind && o.Kind != selectionKind && !table.HasKind(o.Kind) {
				return wrongUsage(c, "--kind %s: one of %s", o.Kind, kinds)
			}
			return withoutArguments(c, func() error { return runTable(o, s) })
		},
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
	return printTable(file, o.Results, o.Kind, o.Format, s)
}

// printTable prints a table of the experiment's finished runs.
func printTable(file *config.File, results, kind, format string, s streams) error {
	found, err := findRuns(file, results)
	if err != nil {
		return err
	}
	found.warn(s.err)
	var built sheet.Sheet
	if kind == selectionKind {
		if built, err = table.Criteria(found.runs, file.Config); err != nil {
			return err
		}
	} else {
		built = table.Build(kind, found.results(), file.Config)
	}
	built.Notes = append(built.Notes, found.notes...)
	return built.Write(s.out, format)
}

// runAverage prints the averages of several experiments side by side. Those without a
// finished run are named in a note.
func runAverage(o tableOptions, s streams) error {
	files, err := o.loadAll()
	if err != nil {
		return err
	}
	var experiments []summary.Selection
	var notes []string
	for _, file := range files {
		found, err := findRuns(file, o.Results)
		if err != nil {
			if len(files) == 1 {
				return err
			}
			notes = append(notes, fmt.Sprintf("%s: %v.", file.Name, err))
			continue
		}
		found.warn(s.err)
		experiments = append(experiments, summary.Select(found.results(), file.Config))
		notes = append(notes, found.notes...)
	}
	if len(experiments) == 0 {
		return fmt.Errorf("%w: %s", errNothingFinished, strings.Join(notes, " "))
	}
	built := table.Average(experiments)
	built.Notes = append(built.Notes, notes...)
	return built.Write(s.out, o.Format)
}

// results are those of the usable runs.
func (f foundRuns) results() []store.Result {
	results := make([]store.Result, len(f.runs))
	for i, run := range f.runs {
		results[i] = run.Result
	}
	return results
}
