package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/adapt"
	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/report/page"
	"iwda/experiments/train"
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
	machineOptions
	faultOptions
}

const adaptUsage = "iwrun adapt --source FILE|FOLDER --target FILE|FOLDER -o FOLDER [--steps N] [--set KEY=VALUE]... [--probabilities] [--dry-run] [options]"

func newAdaptCommand(s streams) *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "source", Usage: "`FILE` of features or folder of images, with labels"},
		&cli.StringFlag{Name: "target", Usage: "`FILE` of features or folder of images; labels, where there are some, are used to measure alone"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FOLDER` of everything that is written"},
		&cli.StringSliceFlag{Name: "set", Usage: "set a key of the experiment file, `KEY=VALUE`; may be repeated"},
		&cli.IntFlag{Name: "steps", Usage: "train each run for some `N` steps, with the learning rate and the alignment's weight stretched accordingly (default: 1200 on features, or 8 passes over the larger domain where that is more, 2000 on images)"},
		&cli.BoolFlag{Name: "probabilities", Usage: "write the probabilities of all classes too"},
		&cli.BoolFlag{Name: "dry-run", Usage: "look at the data, print the experiment file and run nothing"},
	}
	return &cli.Command{
		Name:      "adapt",
		Usage:     "predict the classes of a target without labels from a labelled source",
		UsageText: adaptUsage,
		Description: "Looks at both domains, writes experiment.yaml, which says what it does and why, trains, chooses without labels of the target what predicts, " +
			"and leaves predictions.csv, classes.csv, model/ and report.html in the folder. Interrupted, the same command goes on.",
		Flags:        append(append(flags, machineFlags()...), faultFlags()...),
		OnUsageError: wrongFlag,
		Action: func(c *cli.Context) error {
			o := adaptOptions{
				Source: c.String("source"), Target: c.String("target"), Folder: where(c, "output").String("output"),
				Set:           where(c, "set").StringSlice("set"),
				Steps:         c.Int("steps"),
				Probabilities: c.Bool("probabilities"), DryRun: where(c, "dry-run").Bool("dry-run"),
				machineOptions: machineOptionsOf(c), faultOptions: faultOptionsOf(c),
			}
			return withoutArguments(c, func() error { return runAdapt(o, s) })
		},
	}
}

// runAdapt carries out all of it. Everything that can be wrong with the options and the
// data is found before anything is written.
func runAdapt(o adaptOptions, s streams) error {
	switch {
	case o.Source == "" || o.Target == "":
		return usageError("which domains? name them with --source and --target", adaptUsage)
	case o.Folder == "":
		return usageError("where to? name a folder with -o", adaptUsage)
	case o.Steps < 0:
		return usageError(fmt.Sprintf("--steps %d: a run takes one step or more", o.Steps), adaptUsage)
	}
	options, devices, err := scheduleOptions(o.machineOptions, o.faultOptions, o.runs())
	if err != nil {
		return err
	}
	_, missing := os.Stat(o.path(adapt.ExperimentFile))
	data, err := adapt.Look(o.Source, o.Target, errors.Is(missing, fs.ErrNotExist))
	if err != nil {
		return err
	}
	fmt.Fprintln(s.err, data)
	file, err := o.experiment(data)
	if err != nil {
		return err
	}
	problems := data.Warnings(&file.Config)
	for _, warning := range problems {
		fmt.Fprintln(s.err, warning)
	}
	text, err := file.Text()
	if err != nil {
		return err
	}
	runs, err := plan.Runs(file)
	if err != nil {
		return err
	}
	if err := adapt.CheckRuns(file.Name, runs); err != nil {
		return err
	}
	if o.DryRun {
		fmt.Fprint(s.out, string(text))
		fmt.Fprintln(s.err, lengths(runs))
		return nil
	}
	if err := plan.CheckData(runs); err != nil {
		return err
	}
	if err := o.checkRuns(runs); err != nil {
		return err
	}
	if err := o.writeExperiment(text); err != nil {
		return err
	}
	summary, err := carryOut(adapt.LongestFirst(runs), options, o.faultOptions, s)
	if err != nil {
		return err
	}
	printSummary(s.err, summary)
	if len(summary.Left) > 0 {
		return statusError(statusInterrupted)
	}
	// A run that failed is as if it had not been planned, but that its reason is told.
	var reasons []string
	for _, failure := range summary.Failed {
		runs = slices.DeleteFunc(runs, func(r plan.Run) bool { return r.ID == failure.Run.ID })
		reason, _, _ := strings.Cut(failure.Reason, "\n")
		reasons = append(reasons, fmt.Sprintf("%s failed and is left out: %s.", failure.Run.ID, reason))
	}
	if len(runs) > 0 {
		err = o.conclude(file, runs, append(problems, reasons...), train.Options{Device: devices[0], Threads: options.Threads * options.Jobs, Log: io.Discard}, s)
	}
	if err == nil && len(reasons) > 0 {
		return statusError(statusFailed)
	}
	return err
}

// checkRuns finds, before the experiment file is replaced, runs that another one left.
func (o adaptOptions) checkRuns(runs []plan.Run) error {
	for _, run := range runs {
		differences, err := run.Conflict(run.Dir(o.runs()))
		if err == nil && len(differences) > 0 && !o.Overwrite {
			return config.Error{Location: run.Dir(o.runs()).String(), Message: "holds a result or a checkpoint of another configuration:\n" +
				strings.Join(differences, "\n") + "\nchoose another folder with -o, or begin anew with --overwrite, which removes what is there"}
		}
	}
	if err := checkSameData(runs, o.runs(), o.Overwrite); err != nil {
		return err
	}
	return checkResults(runs, o.runs())
}

// runs is the folder of results.
func (o adaptOptions) runs() string { return filepath.Join(o.Folder, "runs") }

func (o adaptOptions) path(name string) string { return filepath.Join(o.Folder, name) }

// experiment returns the experiment file that the folder has, which may have been
// changed by hand, or else the one that follows from the data, with the assignments made.
func (o adaptOptions) experiment(data adapt.Data) (*config.File, error) {
	path := o.path(adapt.ExperimentFile)
	assignments := o.Set
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.newExperiment(path, data)
	case err != nil:
		return nil, err
	case o.Steps > 0:
		assignments = append(data.Length(o.Steps), o.Set...)
	}
	return assigned(path, text, data, assignments)
}

// newExperiment returns the experiment file that follows from the data, with the assignments
// made.
func (o adaptOptions) newExperiment(path string, data adapt.Data) (*config.File, error) {
	file, err := o.follow(path, data)
	if err != nil {
		return nil, err
	}
	if way := file.Config.Network.Normalise; way != data.Normalisation.Way { // other settings and comments depend on it
		data.Normalisation = adapt.AskedFor(way)
		return o.follow(path, data)
	}
	return file, nil
}

// follow returns the experiment file as the data have it, with the assignments made.
func (o adaptOptions) follow(path string, data adapt.Data) (*config.File, error) {
	text, err := data.Experiment(o.Steps)
	if err != nil {
		return nil, err
	}
	return assigned(path, text, data, o.Set)
}

// assigned returns an experiment file of the data with the assignments made.
func assigned(path string, text []byte, data adapt.Data, assignments []string) (*config.File, error) {
	file, err := config.Parse(path, text)
	if err != nil {
		return nil, err
	}
	if err := file.Set(assignments); err != nil {
		return nil, err
	}
	return file, data.CheckExperiment(file)
}

func (o adaptOptions) writeExperiment(text []byte) error {
	if err := os.MkdirAll(o.Folder, 0o777); err != nil {
		return fmt.Errorf("cannot create the folder of the results: %w", err)
	}
	return wholefile.Write(o.path(adapt.ExperimentFile), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// conclude chooses among the runs, which are finished, and writes what follows. The
// problems, as of others, stand in the report.
func (o adaptOptions) conclude(file *config.File, runs []plan.Run, problems []string, options train.Options, s streams) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer onSignals(cancel)()
	outcome, err := adapt.Conclude(file.Config.Selection, o.runs(), runs)
	if err != nil {
		return err
	}
	outcome.Problems = append(outcome.Problems, problems...)
	if err := outcome.Write(ctx, o.Folder, o.runs(), o.Target, o.Probabilities, options); err != nil {
		return err
	}
	found, err := findRuns(file, o.runs())
	if err != nil {
		return err
	}
	err = wholefile.Write(o.path(reportFile), func(w io.Writer) error {
		return page.Write(w, page.Content{
			Config: file.Config, Planned: found.planned, Runs: found.runs, Problems: found.problems, Notes: found.notes,
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
