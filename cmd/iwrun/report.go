package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"iwda/experiments/plan"
	"iwda/experiments/report/page"
	"iwda/internal/wholefile"
)

// reportFile is the name of the page in the experiment's folder of results.
const reportFile = "report.html"

func newReportCommand(s streams) *cli.Command {
	var o experimentOptions
	return &cli.Command{
		Name:      "report",
		Usage:     "write everything about the finished runs into one HTML file",
		UsageText: "iwrun report -c FILE [-o FOLDER]",
		Description: "Writes " + reportFile + ` into the experiment's folder of results and prints its path. It needs no other file and no network.

Examples:
  iwrun report -c configs/demo.yaml`,
		Flags:  o.experimentFlags(),
		Action: withoutArguments(func(*cli.Context) error { return runReport(o, s) }),
	}
}

// runReport writes the page, also where no run is finished but some have failed.
func runReport(o experimentOptions, s streams) error {
	file, err := o.load()
	if err != nil {
		return err
	}
	found, err := o.find(file)
	if err != nil && !(errors.Is(err, plan.ErrNothingFinished) && found.Failed()) {
		return err
	}
	warn(found, s.err)
	folder := filepath.Join(o.Results, file.Config.Experiment)
	if err := new(wholefile.Disk).MakeFolder(folder); err != nil {
		return fmt.Errorf("cannot create the folder of the report: %w", err)
	}
	path := filepath.Join(folder, reportFile)
	if err := wholefile.CheckApart([]string{path}, o.Configs); err != nil {
		return wrongUsage("%v", err)
	}
	err = wholefile.Write(path, func(w io.Writer) error {
		return page.Write(w, page.Content{Config: file.Config, Found: found})
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, path)
	return nil
}
