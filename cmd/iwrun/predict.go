package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labels"
	"iwda/adaptation/predict"
	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/printable"
)

// predictOptions say what is predicted of which rows.
type predictOptions struct {
	workOptions
	predict.Request
	Model string // folder
	Batch int
	Trust model.Trust
	// ToLabel is a file of LabelRows rows that somebody may label.
	ToLabel   string
	LabelRows int
}

func newPredictCommand(s streams) *cli.Command {
	var o predictOptions
	flags := []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &o.Output, Usage: "`FILE` for the predictions, .csv, or - for standard output"},
		&cli.BoolFlag{Name: "probabilities", Destination: &o.Probabilities, Usage: "write a probability for each class even if there are more than ten"},
		sharesFlag(&o.Shares, "input"),
		setsFlag(&o.Sets),
		&cli.StringFlag{Name: "to-label", Destination: &o.ToLabel, Usage: "write random rows for you to label to `FILE`, .csv; iwrun evaluate reads it"},
		&cli.IntFlag{Name: "label-rows", Destination: &o.LabelRows, Value: labels.UsualRows, Usage: "with --to-label: `N` rows", Action: commandline.Between(1, mostRows, "--label-rows", "want a row or more")},
	}
	flags = append(flags, commandline.Advanced(append(trustFlags(&o.Trust),
		&cli.IntFlag{Name: "batch", Destination: &o.Batch, Value: predict.DefaultBatch, Usage: "`NUMBER` of rows that pass through the network at a time",
			Action: commandline.Between(1, mostRows, "--batch", "at least one row at a time")},
	)...)...)
	return &cli.Command{
		Name:      "predict",
		Usage:     "predict the classes of rows with a trained model",
		UsageText: "iwrun predict MODEL INPUT… -o FILE [FLAGS]",
		Description: `MODEL is the folder of iwrun adapt, of a finished run or of iwrun export. It can also be a method's folder, with runs
seed-1, seed-2 and so on: then their probabilities are averaged. INPUT is a file of features (` + table.Extensions + `), a folder
or a .txt list of images. Rows keep their order and ids. The model finds its
columns by name and skips others.

Examples:
  iwrun predict adapt-out new.csv -o predictions.csv
  iwrun predict adapt-out monday.csv tuesday.csv -o week.csv --probabilities
  iwrun predict adapt-out new.csv -o predictions.csv --shares estimate`,
		Flags: slices.Concat(flags, columnFlags(&o.Roles), o.deviceFlags()),
		Action: func(c *cli.Context) error {
			if c.NArg() < 2 {
				return commandline.WrongUsage("name a model's folder, and what to predict with it")
			}
			o.Model, o.Inputs = c.Args().First(), c.Args().Tail()
			if err := o.check(c); err != nil {
				return err
			}
			return runPredict(o, s)
		},
	}
}

// sharesFlag is that of the class shares to correct probabilities for; estimated names
// what they can be estimated from, and is empty where there is nothing.
func sharesFlag(to *string, estimated string) cli.Flag {
	usage := "class `SHARES` that probabilities are corrected for: model (those that its target's predictions were corrected for), source, uniform"
	if estimated != "" {
		usage += ", estimate (those of the " + estimated + " itself)"
	}
	return &cli.StringFlag{Name: "shares", Destination: to, Value: predict.ModelShares, Usage: usage + ", or a file with the columns class and share, such as classes.csv"}
}

// trustFlags are those of a model that holds a program.
func trustFlags(to *model.Trust) []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "run-module", Destination: &to.Inside, Usage: "run the model's TorchScript module. It is a program: use this only if you trust its author"},
		commandline.Strings(&to.Files, "module", "also run this TorchScript module, a `FILE` outside the model's folder, if the model was trained with it"),
	}
}

func (o predictOptions) check(c *cli.Context) error {
	if o.Output == "" {
		return commandline.WrongUsage("where to? name a file with -o FILE")
	}
	if o.ToLabel == "" && c.IsSet("label-rows") {
		return commandline.WrongUsage("which file are the rows to label for? name it with --to-label FILE")
	}
	if err := names.CheckApart([]string{o.Output, o.ToLabel}, append(o.Inputs, o.Shares)); err != nil {
		return commandline.WrongUsage("%v", err)
	}
	if err := table.CheckTable(o.ToLabel); o.ToLabel != "" && err != nil {
		return commandline.WrongUsage("--to-label: %v", err)
	}
	if o.ToLabel != "" && labels.StateOf(o.ToLabel).Touched {
		return commandline.WrongUsage("--to-label: %s has labels, or is another file; choose another name", o.ToLabel)
	}
	if o.Output == predict.Stdout {
		return nil
	}
	if err := table.CheckTable(o.Output); err != nil {
		return commandline.WrongUsage("-o %v, or to - for standard output", err)
	}
	return nil
}

func runPredict(o predictOptions, s streams) error {
	members, err := o.Trust.OpenEnsemble(o.Model)
	if err != nil {
		return input.Wrong(err)
	}
	ctx, stop := commandline.Interruptible()
	defer stop()
	o.Request.Stdout = s.out
	draw := labels.NewDraw(o.LabelRows, labelSeed)
	if o.ToLabel != "" {
		o.Request.Also = draw.Add
	}
	written, err := predict.Write(ctx, members, o.Request, predict.Options{Torch: s.torch, Device: o.Device, Threads: o.Schedule.Threads, Batch: o.Batch})
	if errors.Is(err, context.Canceled) {
		fmt.Fprintf(s.err, "iwrun: interrupted after %s\n", printable.Count(written.Rows(), "row"))
		return statusError(statusInterrupted)
	}
	if err != nil {
		return err
	}
	if o.ToLabel != "" {
		if err := labels.Write(o.ToLabel, draw.Rows()); err != nil {
			return err
		}
	}
	for _, stray := range written.Strays {
		fmt.Fprintln(s.err, stray)
	}
	reportRows(s.err, written.Rows(), members, written.Shares)
	return nil
}

// labelSeed draws the same rows of the same inputs again.
const labelSeed = 1

// reportRows says how many rows were predicted, and for which class shares by each member.
func reportRows(to io.Writer, rows int, members []model.Model, shares [][]float64) {
	classes, by := members[0].Classes, ""
	if len(members) > 1 {
		by = fmt.Sprintf(" by the mean of %d models", len(members))
	}
	if !slices.ContainsFunc(shares, func(other []float64) bool { return !slices.Equal(other, shares[0]) }) {
		fmt.Fprintf(to, "%s predicted%s, assuming the class shares %.4f of %q\n", printable.Count(rows, "row"), by, shares[0], classes)
		return
	}
	fmt.Fprintf(to, "%s predicted%s, assuming these class shares of %q:\n", printable.Count(rows, "row"), by, classes)
	for i, m := range members {
		fmt.Fprintf(to, "%s: %.4f\n", m.Folder, shares[i])
	}
}
