package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"iwda/experiments/adapt"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/report/page"
	"iwda/experiments/train"
	"iwda/internal/commandline"
	"iwda/internal/wholefile"
)

// adaptOptions say which domains are adapted, and where to.
type adaptOptions struct {
	Source, Target string
	Folder         string
	Set            []string
	Steps          int // of a run; 0 for what is usual
	Probabilities  bool
	DryRun         bool
	workOptions
}

const adaptUsage = "iwrun adapt --source FILE|FOLDER --target FILE|FOLDER -o FOLDER [--steps N] [--set KEY=VALUE]... [--probabilities] [--dry-run] [options]"

func newAdaptCommand(s streams) *cli.Command {
	var o adaptOptions
	flags := []cli.Flag{
		&cli.StringFlag{Name: "source", Destination: &o.Source, Usage: "`FILE` of features or folder of images, with labels"},
		&cli.StringFlag{Name: "target", Destination: &o.Target, Usage: "`FILE` of features or folder of images; labels, where there are some, are used to measure alone"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &o.Folder, Usage: "`FOLDER` of everything that is written"},
		commandline.Strings(&o.Set, "set", "set a key of the experiment file, `KEY=VALUE`; may be repeated"),
		&cli.IntFlag{Name: "steps", Destination: &o.Steps, Action: atLeast(0, "--steps", "a run takes one step or more"), Usage: "train each run for some `N` steps, with the learning rate and the alignment's weight stretched accordingly", DefaultText: "what suits the size of the data; --dry-run prints it"},
		&cli.BoolFlag{Name: "probabilities", Destination: &o.Probabilities, Usage: "write the probabilities of all classes too"},
		&cli.BoolFlag{Name: "dry-run", Destination: &o.DryRun, Usage: "look at the data, print the experiment file and run nothing"},
	}
	return &cli.Command{
		Name:      "adapt",
		Usage:     "predict the classes of a target without labels from a labelled source",
		UsageText: adaptUsage,
		Description: "Looks at both domains, writes experiment.yaml, which says what it does and why, trains, chooses without labels of the target what predicts, " +
			"and leaves predictions.csv, classes.csv, model/ and report.html in the folder. Interrupted, the same command goes on.",
		Flags:  append(append(flags, o.machineFlags()...), o.faultFlags()...),
		Action: withoutArguments(func(*cli.Context) error { return runAdapt(o, s) }),
	}
}

// runAdapt carries out all of it. Everything that can be wrong with the options and the
// data is found before anything is written.
func runAdapt(o adaptOptions, s streams) error {
	if err := o.check(); err != nil {
		return err
	}
	devices, err := o.devices()
	if err != nil {
		return err
	}
	a, err := o.plan(s)
	if err != nil {
		return err
	}
	if o.DryRun {
		fmt.Fprint(s.out, string(a.text))
		fmt.Fprintln(s.err, plan.Lengths(a.runs))
		return nil
	}
	if err := o.checkRuns(a.runs); err != nil {
		return err
	}
	if err := o.writeExperiment(a.text); err != nil {
		return err
	}
	summary, err := carryOut(adapt.LongestFirst(a.runs), o.runs(), o.workOptions, s)
	if err != nil {
		return err
	}
	summary.Print(s.err)
	if len(summary.Left) > 0 {
		return statusError(statusInterrupted)
	}
	a.leaveOut(summary.Failed)
	if len(a.runs) > 0 {
		err = o.conclude(a, train.Options{Device: devices[0], Threads: o.Schedule.Threads * o.Schedule.AtOnce(), Log: io.Discard}, s)
	}
	if err == nil && len(summary.Failed) > 0 {
		return statusError(statusFailed)
	}
	return err
}

// check finds what is missing or impossible without a look at the data.
func (o adaptOptions) check() error {
	switch {
	case o.Source == "" || o.Target == "":
		return usageError("which domains? name them with --source and --target", adaptUsage)
	case o.Folder == "":
		return usageError("where to? name a folder with -o", adaptUsage)
	}
	written := append(model.Files(o.path(adapt.ModelFolder)), o.Folder)
	for _, name := range []string{adapt.ExperimentFile, adapt.PredictionsFile, adapt.ClassesFile, reportFile} {
		written = append(written, o.path(name))
	}
	if err := wholefile.CheckApart(written, []string{o.Source, o.Target}); err != nil {
		return usageError("-o: "+err.Error(), adaptUsage)
	}
	return nil
}

// runs is the folder of results.
func (o adaptOptions) runs() string { return filepath.Join(o.Folder, "runs") }

func (o adaptOptions) path(name string) string { return filepath.Join(o.Folder, name) }

// conclude chooses among the runs, which are finished, and writes what follows.
func (o adaptOptions) conclude(a adaptation, options train.Options, s streams) error {
	ctx, stop := interruptible()
	defer stop()
	outcome, err := adapt.Conclude(a.file.Config.Selection, o.runs(), a.runs)
	if err != nil {
		return err
	}
	for _, problem := range outcome.Problems { // the others were told before
		fmt.Fprintln(s.err, problem)
	}
	outcome.Problems = append(outcome.Problems, a.problems...)
	if err := outcome.Write(ctx, o.Folder, o.runs(), o.Target, o.Probabilities, options); err != nil {
		return err
	}
	found, err := plan.Find(a.file, o.runs())
	if err != nil {
		return err
	}
	err = wholefile.Write(o.path(reportFile), func(w io.Writer) error {
		return page.Write(w, page.Content{
			Config: a.file.Config, Planned: found.Planned, Runs: found.Runs, Problems: found.Problems, Notes: found.Notes,
			Outcome: outcome.Sheets(),
		})
	})
	if err != nil {
		return err
	}
	for _, sentence := range outcome.Why() {
		fmt.Fprintln(s.err, sentence)
	}
	for _, name := range []string{adapt.PredictionsFile, adapt.ClassesFile, reportFile} {
		fmt.Fprintln(s.out, o.path(name))
	}
	return nil
}
