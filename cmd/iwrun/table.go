package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/report"
	"iwda/experiments/store"
)

// tableOptions say which table is printed and how.
type tableOptions struct {
	experimentOptions
	Format string
}

// markdown is the format of tables unless another is asked for.
const markdown = "md"

// tableFormats are the formats of a table by name.
var tableFormats = map[string]func(report.Table, io.Writer) error{
	markdown: report.Table.WriteMarkdown,
	"csv":    report.Table.WriteCSV,
	"json":   report.Table.WriteJSON,
}

func newTableCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "table",
		Usage:     "print the table of the finished runs",
		UsageText: "iwrun table -c FILE [-o FOLDER] [--set KEY=VALUE]... [--format md|csv|json]",
		Flags:     append(experimentFlags(), &cli.StringFlag{Name: "format", Value: markdown, Usage: "`FORMAT`: md, csv or json"}),
		Action: func(c *cli.Context) error {
			if _, ok := tableFormats[c.String("format")]; !ok {
				return wrongUsage(c, "--format %s: md, csv or json", c.String("format"))
			}
			return withoutArguments(c, func() error {
				return runTable(tableOptions{experimentOptionsOf(c), c.String("format")}, s)
			})
		},
	}
}

func runTable(o tableOptions, s streams) error {
	file, err := o.load()
	if err != nil {
		return err
	}
	return printTable(file, o.Results, o.Format, s)
}

// printTable prints the table of the experiment's finished runs.
func printTable(file *config.File, results, format string, s streams) error {
	finished, notes, err := finishedRuns(file, results, s.err)
	if err != nil {
		return err
	}
	var numbers []store.Result
	for _, run := range finished {
		numbers = append(numbers, run.Result)
	}
	table := report.BuildTable(numbers, file.Config)
	table.Notes = append(table.Notes, notes...)
	return tableFormats[format](table, s.out)
}

// errNothingFinished is returned where there is nothing to show.
var errNothingFinished = errors.New("no run is finished")

// finishedRuns returns the runs that were finished with the experiment's present
// configuration, together with those that it does not plan, and notes about what else
// there is. Folders that cannot be made sense of are named on w.
func finishedRuns(file *config.File, results string, w io.Writer) (finished []store.Run, notes []string, err error) {
	planned, err := plan.Runs(file)
	if err != nil {
		return nil, nil, err
	}
	hashes := map[string]string{}
	for _, run := range planned {
		hashes[run.ID.String()] = run.Config.Hash()
	}
	found, problems := store.Collect(results, file.Config.Experiment)
	usable := 0
	var others []string
	for _, run := range found {
		hash, isPlanned := hashes[run.Result.ID]
		switch {
		case !isPlanned:
			finished = append(finished, run)
		case hash == run.Result.ConfigHash:
			finished = append(finished, run)
			usable++
		default:
			others = append(others, run.Result.ID)
		}
	}
	if usable == 0 {
		return nil, nil, fmt.Errorf("%w of experiment %q below %s with the configuration of %s (%d with another one)",
			errNothingFinished, file.Config.Experiment, results, file.Name, len(others))
	}
	if len(others) > 0 {
		notes = append(notes, fmt.Sprintf("Left out, because finished with another configuration: %s.", strings.Join(others, ", ")))
	}
	for _, problem := range problems {
		if problem.Kind == store.Unreadable || problem.Kind == store.Foreign {
			fmt.Fprintln(w, problem)
		}
	}
	return finished, notes, nil
}
