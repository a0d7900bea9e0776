package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt"
	"iwda/adaptation/labels"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/inference/sets"
	"iwda/inference/trust"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

// adaptOptions say which domains are adapted, where to, and what is shown.
type adaptOptions struct {
	adapt.Options
	domainFiles
	DryRun, Quiet, JSON, Fail bool
	workOptions
}

func newAdaptCommand(s streams) *cli.Command {
	var o adaptOptions
	flags := slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &o.Folder, Value: "adapt-out", Usage: "`FOLDER` of everything that is written"},
		&cli.BoolFlag{Name: "probabilities", Destination: &o.Probabilities, Usage: "write a probability for each class even if there are more than ten"},
		setsFlag(&o.Sets),
		&cli.IntFlag{Name: "label-rows", Destination: &o.LabelRows, Value: labels.UsualRows, Action: commandline.Between(0, mostRows, "--label-rows", "want 0 or more"), Usage: "draw `N` rows at random for you to label, 0 for none"},
		&cli.IntFlag{Name: "steps", Destination: &o.Steps, Action: commandline.Between(1, mostSteps, "--steps", "a run takes one step or more"), Usage: "train each run for about `N` steps, but at least three epochs (default: as many as suit the data; --dry-run prints them)"},
		&cli.BoolFlag{Name: "dry-run", Destination: &o.DryRun, Usage: "look at the data, print the experiment file and train nothing"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Destination: &o.Quiet, Usage: "print only errors"},
		jsonFlag(&o.JSON),
		commandline.Needs(&o.Needs),
		commandline.Fail(&o.Fail),
		&cli.BoolFlag{Name: "label-shift", Destination: &o.LabelShift, Usage: "you know that only the class shares differ: nothing is aligned, and predictions are corrected in full (default: the data decide)"},
		networkFlag(&o.Network),
	}, o.domainFlags(&o.Columns), o.machineFlags(), commandline.Advanced(
		commandline.Strings(&o.Set, "set", "set a key of the experiment file, `KEY=VALUE`; may be repeated"),
		commandline.Strings(&o.Trust.Files, "module", "run this TorchScript module, a `FILE` that an experiment.yaml in FOLDER names. It is a program: use this only if you trust its author"),
	), o.faultFlags())
	return &cli.Command{
		Name:      "adapt",
		Usage:     "predict the classes of data without labels, from labelled data",
		UsageText: "iwrun adapt SOURCE TARGET [-o FOLDER]\niwrun adapt SOURCE… --target TARGET [-o FOLDER]\niwrun adapt FILE --domain-column NAME [-o FOLDER]",
		Description: `SOURCE and TARGET are files of features or folders of images; or FILE holds both. There may be several sources of the
same columns. If the target has labels, they are only used to measure the accuracy. The command looks at the data, trains
several methods, chooses without target labels which of them predict, and says how far the predictions can be trusted. It
writes report.html, predictions.csv, classes.csv, to_label.csv, outcome.json, the model, and experiment.yaml, which says
what was decided and why. If it is interrupted, the same command continues.

Examples:
  iwrun adapt source.csv target.csv
  iwrun adapt north.csv south.csv --target west.csv
  iwrun adapt flowers.csv --label-column species --domain-column garden
  iwrun adapt source.csv target.csv --need 'recall(sepsis) >= 0.8' --fail
  iwrun adapt photos/labelled photos/new -o photos-out --device cuda`,
		Flags: flags,
		Action: func(c *cli.Context) (err error) {
			if err = o.take(c.Args().Slice(), o.Columns.DomainColumn); err != nil {
				return err
			}
			return runAdapt(o, s)
		},
	}
}

// jsonFlag is that of commands that show an outcome.
func jsonFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Destination: to, Usage: "print outcome.json, and nothing else on standard output"}
}

// setsFlag is that of commands whose predictions may have sets.
func setsFlag(to *float64) cli.Flag {
	return &cli.Float64Flag{Name: "sets", Destination: to, Usage: "write the set of classes that each row may have: it contains the row's class with this `PROBABILITY`, whatever the class shares are: 0.8, 0.9, 0.95 or 0.99",
		Action: func(c *cli.Context, level float64) error {
			why := fmt.Sprintf("want one of %v", sets.Levels)
			if err := commandline.Between(sets.Levels[0], slices.Max(sets.Levels), "--sets", why)(c, level); err != nil || slices.Contains(sets.Levels, level) {
				return err
			}
			return commandline.WrongUsage("--sets %v: %s", level, why)
		}}
}

// runAdapt looks at the data and, but for a dry run, carries out all of it.
func runAdapt(o adaptOptions, s streams) error {
	if o.DryRun && o.JSON {
		return commandline.WrongUsage("--json prints what came of training; --dry-run trains nothing")
	}
	if !o.DryRun {
		if err := o.devices(false, s); err != nil {
			return err
		}
	}
	said := s.err // what is no error
	if o.Quiet {
		said = io.Discard
	}
	options := o.Options
	options.Overwrite, options.Torch, options.Threads = o.Schedule.Overwrite, s.torch, o.Schedule.Threads*o.Schedule.AtOnce()
	if options.LabelRows == 0 {
		options.LabelRows = -1
	}
	options.Device, _, _ = strings.Cut(o.workOptions.Device, ",")
	var summary schedule.Summary
	options.Train = func(_ context.Context, t adapt.Training) ([]schedule.Failure, error) {
		w, width := s.display()
		if o.Quiet {
			w, width = said, 0
		}
		wrapped := func(run plan.Run) string { return printable.Wrap(t.Finished(run), printable.Width(s.err), "    ") }
		err := o.devices(plan.AnySteps(t.Runs), s)
		if err != nil {
			return nil, err
		}
		debug.FreeOSMemory() // the rows that were looked at, as all wait for the workers now
		work := o.workOptions
		work.Schedule.Needed, work.Schedule.Sure = t.Needed, t.Sure
		summary, err = carryOut(t.Runs, t.Results, work, s, schedule.NewDisplay(w, width, true, len(t.Runs)), wrapped)
		if err == nil && len(summary.Left) > 0 {
			fmt.Fprintln(s.err, summary.Stopped())
			err = context.Canceled
		}
		return summary.Failed, err
	}
	p, err := adapt.NewPlan(o.Sources, o.Target, options)
	switch {
	case errors.Is(err, wholefile.ErrSame):
		return commandline.WrongUsage("-o: %v", err)
	case err != nil:
		return input.Wrong(o.given().Error(err))
	}
	p.Print(said)
	if o.DryRun {
		fmt.Fprint(s.out, string(p.Text))
		return p.CheckFiles()
	}
	ctx, stop := commandline.Interruptible()
	defer stop()
	outcome, err := p.Run(ctx)
	if len(summary.Failed) > 0 {
		summary.Print(s.err)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return s.stopped()
	case errors.Is(err, adapt.ErrNothingTrained): // which the summary has told
		return statusError(commandline.StatusFailed)
	case err != nil:
		return err
	}
	switch {
	case o.JSON:
		err = wholefile.JSON(s.out, outcome, "  ") // as outcome.json has it
	case !o.Quiet:
		shown := *outcome
		shown.Warnings = slices.DeleteFunc(slices.Clone(shown.Warnings), func(w string) bool { return slices.Contains(p.Warnings, w) })
		fmt.Fprintln(said)
		shown.Print(s.out, o.Folder)
	}
	if err == nil && len(summary.Failed) > 0 {
		return statusError(commandline.StatusFailed)
	}
	if err == nil && o.Fail {
		err = trust.Check(outcome.Needs)
	}
	return err
}
