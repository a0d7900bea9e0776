package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"iwda/experiments/domains"
	"iwda/experiments/engine"
	"iwda/experiments/fit"
	"iwda/experiments/plan"
	"iwda/experiments/report/sheet"
	"iwda/experiments/schedule"
	"iwda/experiments/store"
	"iwda/internal/commandline"
	"iwda/internal/printable"
	"iwda/internal/system"
)

// runOptions say what is trained and on what.
type runOptions struct {
	experimentOptions
	workOptions
	selection
	DryRun bool
}

// runName is the command that flags alone stand for.
const runName = "run"

func newRunCommand(s streams) *cli.Command {
	var o runOptions
	return &cli.Command{
		Name:      runName,
		Usage:     "train the unfinished runs of an experiment, and print its table",
		UsageText: "iwrun run -c FILE [FLAGS]",
		Description: `Each run has its own folder below that of -o, such as results/digits/subsampled/usps-mnist/iwdan/seed-1.
If the command is interrupted, give it again and it continues.

Examples:
  iwrun run -c configs/demo.yaml
  iwrun run -c configs/digits.yaml --set 'methods=[dann, iwdan]' --dry-run
  iwrun run -c configs/digits.yaml --only '*/usps-mnist/*/seed-1' --device cuda`,
		Flags: slices.Concat(o.experimentFlags(),
			[]cli.Flag{&cli.BoolFlag{Name: "dry-run", Destination: &o.DryRun, Usage: "print the ids of the runs, one per line, and on stderr the hours that they take; run nothing"}},
			o.machineFlags(), o.selectionFlags(), o.faultFlags()),
		Action: withoutArguments(func(*cli.Context) error { return runExperiment(o, s) }),
	}
}

// runExperiment carries out what is not finished and prints the table. Everything
// that can be wrong with the options is found before anything is written.
func runExperiment(o runOptions, s streams) error {
	file, runs, err := o.loadRuns()
	if err != nil {
		return err
	}
	if runs, err = o.choose(runs); err != nil {
		return err
	}
	if never := plan.NeverAligned(runs); never != "" {
		fmt.Fprintf(s.err, "warning: %s\n", never)
	}
	if o.DryRun {
		for _, run := range runs {
			fmt.Fprintln(s.out, run.ID)
		}
		fmt.Fprintln(s.err, plan.Lengths(runs))
		for i, run := range runs {
			if i > 0 && run.ID.Task == runs[i-1].ID.Task && run.ID.Method == runs[i-1].ID.Method {
				continue
			}
			classes, _ := domains.Classes(run.Config) // what cannot be read is for the run to report
			if err := fit.CheckClasses(run.Config, len(classes)); err != nil {
				fmt.Fprintf(s.err, "warning: %v\n", err)
			}
		}
		return o.printCost(runs, s)
	}
	if err := plan.CheckData(runs); err != nil {
		return err
	}
	if err := o.devices(plan.AnySteps(runs), s); err != nil {
		return err
	}
	if err := domains.CheckSameWeights(runs, o.Results, o.Schedule.Overwrite); err != nil {
		return err
	}
	if err := domains.CheckSame(domains.OfOwnRows(runs), o.Results, o.Schedule.Overwrite); err != nil {
		return err
	}
	if err := schedule.CheckResults(runs, o.Results); err != nil {
		return err
	}
	w, width := s.display()
	if not := domains.CheckPublished(runs, o.Results); not != "" {
		fmt.Fprintf(s.err, "warning: %s\n", not)
	}
	summary, err := carryOut(runs, o.Results, o.workOptions, s, schedule.NewDisplay(w, width, false, len(runs)), nil)
	if err != nil {
		return err
	}
	summary.Print(s.err)
	if len(summary.Left) > 0 {
		return s.stopped()
	}
	if o.Index == allRuns { // the tables of one run of many would be read by nobody
		if err := o.printTable(file, "", sheet.Markdown, s); err != nil && !errors.Is(err, plan.ErrNothingFinished) {
			return err
		}
	}
	if len(summary.Failed) > 0 {
		return statusError(commandline.StatusFailed)
	}
	return nil
}

// printCost says how long the runs take that are not finished.
func (o runOptions) printCost(runs []plan.Run, s streams) error {
	var left []plan.Run
	for _, run := range runs {
		if _, finished := run.Finished(o.Results); !finished {
			left = append(left, run)
		}
	}
	if finished := len(runs) - len(left); finished > 0 {
		fmt.Fprintf(s.err, "%d of them are finished\n", finished)
	}
	if len(left) == 0 {
		return nil
	}
	cost, err := o.cost(left, s)
	if errors.Is(err, engine.ErrMissing) {
		cost.Unknown = err.Error()
	} else if err != nil {
		return err
	}
	if cost.Runs > 0 {
		fmt.Fprintf(s.err, "%s: about %.3g hours one after the other on %s, by steps measured now\n", printable.Count(cost.Runs, "run"), cost.Time.Hours(), o.Schedule.Devices[0])
	}
	if unknown := len(left) - cost.Runs; unknown > 0 {
		fmt.Fprintf(s.err, "%s: hours unknown, because %s\n", printable.Count(unknown, "run"), cost.Unknown)
	}
	return nil
}

// cost measures how long runs take.
func (o *runOptions) cost(runs []plan.Run, s streams) (cost engine.Costs, err error) {
	if err := o.devices(true, s); err != nil {
		return cost, err
	}
	all := make([]engine.Work, len(runs))
	for i, run := range runs {
		if all[i], err = o.workOf(run, o.Schedule.Devices[0]); err != nil {
			return cost, err
		}
	}
	err = s.ask(engine.Measure, all, &cost)
	return cost, err
}

// stopped says how an interrupted command goes on.
func (s streams) stopped() error {
	fmt.Fprintf(s.err, "To continue: %s\n", printable.Command(append([]string{"iwrun"}, s.arguments...)...))
	return statusError(statusInterrupted)
}

// carryOut runs the workers on the devices that o shares, and
// closes the display. The first interruption stops them, the second one ends them.
func carryOut(runs []plan.Run, results string, o workOptions, s streams, display *schedule.Display, finished func(plan.Run) string) (schedule.Summary, error) {
	defer display.Close()
	command, err := workerOf(runs, o, s)
	if err != nil {
		return schedule.Summary{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	kill := make(chan struct{})
	defer onSignals(
		func() {
			display.Print("stopping: running workers write what they have; interrupt again to end them at once")
			cancel()
		},
		func() { close(kill) },
	)()

	options := o.Schedule
	options.Command = command
	options.Results, options.Kill = results, kill
	options.Observe = func(u schedule.Update) {
		display.Observe(u)
		if u.State == schedule.Finished && finished != nil {
			if said := finished(u.Run); said != "" {
				display.Print(said)
			}
		}
	}
	return schedule.Run(ctx, runs, options), nil
}

// workerOf returns what starts the worker of a run: this program for one without steps, and iwrun-torch for others, which
// must be there if there are any.
func workerOf(runs []plan.Run, o workOptions, s streams) (command func(run plan.Run, device string) []string, err error) {
	this, err := system.Program()
	var trainer []string
	if err == nil && plan.AnySteps(runs) {
		trainer, err = s.torch.Command("training", "worker")
	}
	return func(run plan.Run, device string) []string {
		if run.Config.WithoutSteps() {
			// As many threads as all runs have: its result is the same by any number, and the last one has the machine to itself.
			return []string{this, fitName, "--", strconv.Itoa(o.Schedule.Threads * o.Schedule.AtOnce())} // a folder may begin with a dash
		}
		how, _ := json.Marshal(o.work(device)) // of words and numbers
		return append(slices.Clone(trainer), string(how))
	}, err
}

// fitName is the command of a worker that makes a run without steps.
const fitName = "fit"

// newFitCommand returns the command with which iwrun starts itself.
func newFitCommand(s streams) *cli.Command {
	return &cli.Command{Name: fitName, Hidden: true, Action: func(c *cli.Context) error {
		threads, err := strconv.Atoi(c.Args().First())
		if err != nil || c.NArg() != 2 {
			return commandline.WrongUsage("iwrun starts this command itself, for a run that is made without steps")
		}
		ctx, stop := commandline.Interruptible()
		defer stop()
		gone := func() { os.Exit(schedule.StoppedStatus) }
		err = schedule.Work(c.Args().Get(1), s.in, s.out, gone, func(run plan.Run, dir store.Dir, _ func(plan.Progress)) error {
			_, err := fit.Run(ctx, run.Config, dir, fit.Options{Threads: threads, Log: s.err})
			return err
		})
		if errors.Is(err, context.Canceled) {
			return statusError(statusInterrupted)
		}
		return err
	}}
}
