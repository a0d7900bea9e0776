package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/datasets/table"
	"iwda/experiments/adapt"
	"iwda/experiments/labels"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/internal/commandline"
	"iwda/internal/wholefile"
)

// adaptOptions say which domains are adapted, and where to.
type adaptOptions struct {
	Source, Target string
	adapt.Options
	DryRun bool
	workOptions
}

const adaptUsage = "iwrun adapt --source FILE|FOLDER --target FILE|FOLDER -o FOLDER [--steps N] [--set KEY=VALUE]... [--probabilities] [--format csv|parquet] [--label-rows N] [--dry-run] [options]"

const (
	labelRowsUsage   = "draw `N` rows at random for you to label, 0 for none"
	labelStrataUsage = "draw them in strata of confidence, more of those that are not sure"
)

func newAdaptCommand(s streams) *cli.Command {
	var o adaptOptions
	flags := []cli.Flag{
		&cli.StringFlag{Name: "source", Destination: &o.Source, Usage: "`FILE` of features or folder of images, with labels"},
		&cli.StringFlag{Name: "target", Destination: &o.Target, Usage: "`FILE` of features or folder of images; labels, where there are some, are used to measure alone"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &o.Folder, Usage: "`FOLDER` of everything that is written"},
		commandline.Strings(&o.Set, "set", "set a key of the experiment file, `KEY=VALUE`; may be repeated"),
		&cli.IntFlag{Name: "steps", Destination: &o.Steps, Action: atLeast(0, "--steps", "a run takes one step or more"), Usage: "train each run for some `N` steps, with the learning rate and the alignment's weight stretched accordingly", DefaultText: "what suits the size of the data; --dry-run prints it"},
		&cli.BoolFlag{Name: "probabilities", Destination: &o.Probabilities, Usage: "write the probabilities of all classes too"},
		tableFormat(&o.Format),
		&cli.IntFlag{Name: "label-rows", Destination: &o.LabelRows, Value: labels.UsualRows, Action: atLeast(0, "--label-rows", "want 0 or more"), Usage: labelRowsUsage},
		&cli.BoolFlag{Name: "label-strata", Destination: &o.LabelStrata, Usage: labelStrataUsage},
		&cli.BoolFlag{Name: "dry-run", Destination: &o.DryRun, Usage: "look at the data, print the experiment file and run nothing"},
	}
	return &cli.Command{
		Name:      "adapt",
		Usage:     "predict the classes of a target without labels from a labelled source",
		UsageText: adaptUsage,
		Description: "Looks at both domains, writes experiment.yaml, which says what it does and why, trains, chooses without labels of the target what predicts, " +
			"and leaves predictions.csv, classes.csv, model/, report.html, outcome.json and to_label.csv in the folder. Interrupted, the same command goes on.",
		Flags:  append(append(flags, o.machineFlags()...), o.faultFlags()...),
		Action: withoutArguments(func(*cli.Context) error { return runAdapt(o, s) }),
	}
}

// tableFormat is --format for the tables of a folder.
func tableFormat(to *string) cli.Flag {
	flag := commandline.Format(to, table.Formats()...).(*cli.StringFlag)
	flag.Usage = "`FORMAT` of predictions, classes and disputed: " + strings.Join(table.Formats(), " or ")
	return flag
}

// runAdapt looks at the data and, but for a dry run, carries out all of it.
func runAdapt(o adaptOptions, s streams) error {
	switch {
	case o.Source == "" || o.Target == "":
		return usageError("which domains? name them with --source and --target", adaptUsage)
	case o.Folder == "":
		return usageError("where to? name a folder with -o", adaptUsage)
	}
	devices, err := o.devices()
	if err != nil {
		return err
	}
	options := o.Options
	options.Say = func(sentence string) { fmt.Fprintln(s.err, sentence) }
	if o.DryRun {
		p, err := adapt.NewPlan(o.Source, o.Target, options)
		if err != nil {
			return adaptError(err)
		}
		fmt.Fprint(s.out, string(p.Text))
		fmt.Fprintln(s.err, plan.Lengths(p.Runs))
		return nil
	}
	options.Overwrite, options.Device, options.Threads = o.Schedule.Overwrite, devices[0], o.Schedule.Threads*o.Schedule.AtOnce()
	if options.LabelRows == 0 {
		options.LabelRows = -1
	}
	failed := false
	options.Train = func(_ context.Context, runs []plan.Run, results string, finished func(plan.Run) string) ([]schedule.Failure, error) {
		summary, err := carryOut(runs, results, o.workOptions, s, finished)
		if err != nil {
			return nil, err
		}
		summary.Print(s.err)
		if len(summary.Left) > 0 {
			return nil, statusError(statusInterrupted)
		}
		failed = len(summary.Failed) > 0
		return summary.Failed, nil
	}
	ctx, stop := interruptible()
	defer stop()
	outcome, err := adapt.Run(ctx, o.Source, o.Target, options)
	switch {
	case errors.Is(err, adapt.ErrNothingTrained): // which the summary has told
		return statusError(statusFailed)
	case err != nil:
		return adaptError(err)
	}
	for _, what := range []string{"predictions", "classes", "report"} {
		fmt.Fprintln(s.out, filepath.Join(o.Folder, outcome.Files[what]))
	}
	if failed {
		return statusError(statusFailed)
	}
	return nil
}

// adaptError tells a file that would be written over what is read as wrong usage.
func adaptError(err error) error {
	if errors.Is(err, wholefile.ErrSame) {
		return usageError("-o: "+err.Error(), adaptUsage)
	}
	return err
}
