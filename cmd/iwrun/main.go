// Command iwrun trains the runs of an experiment and shows what came of them:
//
//	iwrun -c configs/digits.yaml            run what is not finished, print the table
//	iwrun adapt --source S --target T -o F  predictions for T, which has no labels
//	iwrun table -c configs/digits.yaml      the tables of what is finished
//	iwrun figure -c configs/digits.yaml     the figures of what is finished
//	iwrun report -c configs/digits.yaml     all of it as one HTML file
//	iwrun status -c configs/digits.yaml     what is finished, running, failed, left
//	iwrun check results                     what of all this is damaged, or does not fit together
//	iwrun slurm -c configs/digits.yaml      job scripts for a cluster with Slurm
//	iwrun kubernetes -c FILE --image …      a manifest for a cluster with Kubernetes
//	iwrun extract -c FILE                   features of every domain as .npz files
//	iwrun predict MODEL INPUT… -o FILE      classes and probabilities of rows, with a finished run
//	iwrun evaluate FOLDER LABELS            how many predictions are right, by labels of a few rows
//	iwrun export MODEL --onnx FILE          the network of a finished run, for other programs
//	iwrun labelshift --source S --target T  class shares of data without labels, by anyone's classifier
//	iwrun data list                         which data sets there are, and what goes where
//	iwrun data check office31               what of one is missing, extra or broken
//	iwrun data jsd                          divergences between label distributions
//	iwrun doctor                            versions, devices, threads, what is wrong with them
//
// Results go to standard output, progress and errors to standard error. The exit
// status is 0 if all is done, 1 if a run failed, 2 for wrong usage or configuration,
// in which case nothing was written, and 130 if it was interrupted.
package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"iwda/experiments/labelshift/command"
	"iwda/internal/commandline"
	"iwda/internal/printable"
	"iwda/internal/version"
)

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: commandline.Output(os.Stdout), err: commandline.Output(os.Stderr)}))
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// display returns where progress is shown, and whether a person sees it, on a terminal.
func (s streams) display() (w io.Writer, terminal bool) {
	if screen, is := s.err.(*printable.Screen); is {
		return screen.File, true
	}
	return s.err, false
}

// run carries out a command line and returns the exit status.
func run(arguments []string, s streams) int {
	app := newApp(s)
	err := app.Run(append([]string{"iwrun"}, commandline.CommandFirst(app, arguments)...))
	return conclude(err, s.err)
}

func newApp(s streams) *cli.App {
	var o runOptions
	app := &cli.App{
		Name:      "iwrun",
		Usage:     "domain adaptation under label shift: train, compare, draw",
		UsageText: "iwrun adapt --source FILE --target FILE -o FOLDER\niwrun -c FILE [options]\niwrun table|figure|report -c FILE [options]\niwrun status|slurm|kubernetes -c FILE [options]\niwrun extract -c FILE [--run ID]\niwrun predict MODEL INPUT… -o FILE\niwrun evaluate FOLDER LABELS [-o FILE.json] [--choose]\niwrun export MODEL [--onnx FILE] [-o FOLDER]\niwrun labelshift --source FILE --target FILE [options]\niwrun check FOLDER…\niwrun data list|check|jsd\niwrun doctor",
		Version:   version.Version,
		Writer:    s.out,
		ErrWriter: s.err,
		Flags:     o.flags(),
		Action:    withoutArguments(func(*cli.Context) error { return runExperiment(o, s) }),
		Commands: []*cli.Command{
			newTableCommand(s),
			newAdaptCommand(s),
			newExtractCommand(s),
			newPredictCommand(s),
			newEvaluateCommand(s),
			newExportCommand(s),
			command.New("iwrun labelshift", s.out, s.err),
			newFigureCommand(s),
			newReportCommand(s),
			newStatusCommand(s),
			newCheckCommand(s),
			newSlurmCommand(s),
			newKubernetesCommand(s),
			newDataCommand(s),
			newDoctorCommand(s),
			newWorkerCommand(s),
		},
		HideHelpCommand: true,
		OnUsageError:    wrongFlag,
		ExitErrHandler:  func(*cli.Context, error) {}, // conclude does that
		// A value of --set may hold commas.
		DisableSliceFlagSeparator: true,
	}
	for _, command := range app.Commands {
		command.OnUsageError = wrongFlag
		for _, sub := range command.Subcommands {
			sub.OnUsageError = wrongFlag
		}
	}
	return app
}
