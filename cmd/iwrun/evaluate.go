package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt"
	"iwda/adaptation/adapt/names"
	"iwda/experiments/report/sheet"
	"iwda/internal/commandline"
	"iwda/internal/wholefile"
)

func newEvaluateCommand(s streams) *cli.Command {
	var o workOptions
	var output, format string
	var options adapt.EvaluateOptions
	formats := []string{sheet.JSON, sheet.Markdown}
	return &cli.Command{
		Name:      "evaluate",
		Usage:     "say how many predictions are right, from labels of a few rows",
		UsageText: "iwrun evaluate FOLDER LABELS [--group-column NAME] [--choose] [-o FILE]",
		Description: `FOLDER is the folder of iwrun adapt, whose methods are evaluated too; or another folder with a
predictions.csv; or a .csv file that iwrun predict has written. LABELS is to_label.csv with its column label
filled in, or another file with the columns id and label, of rows drawn at random. Rows without a label are skipped.

Examples:
  iwrun evaluate adapt-out adapt-out/to_label.csv
  iwrun evaluate adapt-out adapt-out/to_label.csv --choose`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &output, Usage: "also write everything into `FILE`, .json, or the tables, .md"},
			&cli.StringFlag{Name: "group-column", Destination: &options.Groups, Usage: "`NAME` of the column of LABELS that says which rows belong together, such as the visits of a patient, if whole groups were drawn: they count as one in intervals and tests"},
			&cli.BoolFlag{Name: "choose", Destination: &options.Choose, Usage: "if the labels show that a method is clearly better than the present predictions, let it predict in FOLDER"},
		}, slices.Concat(commandline.Advanced(trustFlags(&options.Trust)...), o.deviceFlags())...),
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return commandline.WrongUsage("name the folder of the predictions, and the file of the labels")
			}
			folder, labels := c.Args().Get(0), c.Args().Get(1)
			if err := names.CheckApart([]string{output}, append(adapt.Reads(folder), labels)); err != nil {
				return commandline.WrongUsage("-o: %v", err)
			}
			if output != "" {
				var err error
				if format, err = commandline.Ending("-o", output, "", formats...); err != nil {
					return commandline.WrongUsage("%v", err)
				}
			}
			return runEvaluate(folder, labels, output, format, options, o, s)
		},
	}
}

func runEvaluate(folder, labels, output, format string, options adapt.EvaluateOptions, o workOptions, s streams) error {
	ctx, stop := commandline.Interruptible()
	defer stop()
	options.Torch, options.Device, options.Threads = s.torch, o.Device, o.Schedule.Threads
	e, err := adapt.Evaluate(ctx, folder, labels, options)
	if err != nil {
		return err
	}
	switch format {
	case "":
	case sheet.JSON:
		err = wholefile.WriteJSON(output, e)
	default:
		err = wholefile.Write(output, func(w io.Writer) error { return e.Sheet().Write(w, format) })
	}
	if err != nil {
		return err
	}
	if err := e.Sheet().Write(s.out, sheet.Markdown); err != nil {
		return err
	}
	if e.Choice != "" {
		fmt.Fprintln(s.err, filepath.Clean(folder)+": "+e.Choice)
	}
	return nil
}
