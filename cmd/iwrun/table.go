package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/report"
	"iwda/experiments/store"
)

// tableOptions say which table is printed and how.
type tableOptions struct {
	experimentOptions
	Kind   string
	Format string
}

// markdown is the format of tables unless another is asked for.
const markdown = "md"

// sheetFormats are the formats of a table by name.
var sheetFormats = map[string]func(report.Sheet, io.Writer) error{
	markdown: report.Sheet.WriteMarkdown,
	"tex":    report.Sheet.WriteLaTeX,
	"csv":    report.Sheet.WriteCSV,
	"json":   report.Sheet.WriteJSON,
}

func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Value: markdown, Usage: "`FORMAT`: md, tex, csv or json"}
}

// checkFormat returns an error if --format names no format of tables.
func checkFormat(c *cli.Context) error {
	if _, ok := sheetFormats[c.String("format")]; !ok {
		return wrongUsage(c, "--format %s: md, tex, csv or json", c.String("format"))
	}
	return nil
}

const averageKind = "average"

func newTableCommand(s streams) *cli.Command {
	kinds := strings.Join(append(report.Kinds(), averageKind), ", ")
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
			if o.Kind != "" && o.Kind != averageKind && !report.HasKind(o.Kind) {
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
	sheet := report.BuildSheet(kind, found.results(), file.Config)
	sheet.Notes = append(sheet.Notes, found.notes...)
	return sheetFormats[format](sheet, s.out)
}

// runAverage prints the averages of several experiments side by side. Those without a
// finished run are named in a note.
func runAverage(o tableOptions, s streams) error {
	files, err := o.loadAll()
	if err != nil {
		return err
	}
	var tables []report.Table
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
		tables = append(tables, report.BuildTable(found.results(), file.Config))
		notes = append(notes, found.notes...)
	}
	if len(tables) == 0 {
		return fmt.Errorf("%w: %s", errNothingFinished, strings.Join(notes, " "))
	}
	sheet := report.AverageTable(tables).Sheet()
	sheet.Notes = append(sheet.Notes, notes...)
	return sheetFormats[o.Format](sheet, s.out)
}

// results are those of the usable runs.
func (f foundRuns) results() []store.Result {
	results := make([]store.Result, len(f.runs))
	for i, run := range f.runs {
		results[i] = run.Result
	}
	return results
}
