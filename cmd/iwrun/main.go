// Command iwrun adapts a classifier to data without labels whose classes are not as frequent as
// those of the data with labels, and repeats and compares experiments on that; iwrun --help
// lists its commands.
//
// Results go to standard output, progress and errors to standard error. The exit
// status is 0 if all is done, 1 if something failed, 2 for wrong usage and for input that cannot
// be read as asked, 3 if an alarm of iwrun watch has sounded, and 130 if it was interrupted.
package main

import (
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/labelshift/command"
	"iwda/experiments/engine"
	"iwda/internal/commandline"
	"iwda/internal/printable"
	"iwda/internal/version"
)

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: commandline.Output(os.Stdout), err: commandline.Output(os.Stderr)}))
}

// streams are what a command reads and writes.
type streams struct {
	in        io.Reader
	out, err  io.Writer
	arguments []string // of the program
	torch     *engine.Process
}

// display returns where progress is shown, and the width of the terminal there, 0 if it is none.
func (s streams) display() (w io.Writer, width int) {
	if screen, is := s.err.(*printable.Screen); is {
		return screen.File, printable.Width(screen)
	}
	return s.err, 0
}

// run carries out a command line and returns the exit status.
func run(arguments []string, s streams) int {
	out := &commandline.Kept{Writer: s.out}
	s.arguments, s.out, s.torch = arguments, out, &engine.Process{Log: s.err}
	defer s.torch.Close()
	return out.Status("iwrun", carryOutLine(arguments, s), s.err)
}

func carryOutLine(arguments []string, s streams) int {
	app := newApp(s)
	path, help := commandline.Asked(app, arguments)
	if help {
		return conclude(app, nil, commandline.Help(app, path, s.out))
	}
	if len(arguments) == 1 && arguments[0] == "version" {
		arguments = []string{"--version"}
	}
	if first := arguments[0]; strings.HasPrefix(first, "-") && first != "--version" && first != "-v" {
		path, arguments = []string{runName}, append([]string{runName}, arguments...)
	}
	return conclude(app, path, app.Run(append([]string{app.Name}, commandline.CommandFlagsFirst(app, arguments)...)))
}

const aboutIwrun = `iwrun help COMMAND explains a command. iwrun --version prints the version. iwrun -c FILE is short for
iwrun run -c FILE.

Examples:
  iwrun adapt source.csv target.csv
  iwrun predict adapt-out new.csv -o new-predictions.csv
  iwrun run -c configs/demo.yaml

Results go to standard output, progress and errors to standard error.

Exit status:
  0    done
  1    failed: the error says what, and files that were there before are whole
  2    wrong usage, or a file that is missing or cannot be read as asked
  3    iwrun watch: an alarm has sounded
  130  interrupted: the same command continues where it stopped

Environment:
  IWDA_DATA       folder of data sets, and of weights (default: data)
  IWDA_TORCH      iwrun-torch, if it does not lie beside iwrun
  LIBTORCH        folder of the libtorch that make and wheels compile with
  XDG_CACHE_HOME  folder of what a wheel compiles (default: ~/.cache)
  NO_COLOR        print without colours if it is not empty`

func newApp(s streams) *cli.App {
	app := &cli.App{
		Name:        "iwrun",
		Usage:       "predict the classes of unlabelled data, even if some are more frequent there than in your labelled data",
		UsageText:   "iwrun COMMAND [ARGUMENTS] [FLAGS]",
		Description: aboutIwrun,
		Version:     version.Version,
		Writer:      s.out,
		ErrWriter:   s.err,

		HideHelpCommand: true,
		OnUsageError:    commandline.WrongFlag,
		ExitErrHandler:  func(*cli.Context, error) {}, // conclude does that
		// A value of --set may hold commas.
		DisableSliceFlagSeparator: true,
	}
	app.Flags = newRunCommand(s).Flags // iwrun -c FILE is short for iwrun run -c FILE
	app.Action = withoutArguments(func(*cli.Context) error { return nil })
	for _, group := range []struct {
		name     string
		commands []*cli.Command
	}{
		{"Your own data", []*cli.Command{
			newCheckDataCommand(s), newAdaptCommand(s), newShowCommand(s), newPredictCommand(s), newEvaluateCommand(s), command.New("iwrun labelshift", s.out, s.err), newWatchCommand(s), newExportCommand(s),
		}},
		{"Experiments", []*cli.Command{
			newRunCommand(s), newStatusCommand(s), newTableCommand(s), newFigureCommand(s), newDataCommand(s),
		}},
		{"Clusters", []*cli.Command{newSlurmCommand(s)}},
		{"Machine", []*cli.Command{newDoctorCommand(s), newCompletionCommand(s), newManualCommand(s), newFitCommand(s)}},
	} {
		for _, command := range group.commands {
			command.Category, command.OnUsageError = group.name, commandline.WrongFlag
			for _, sub := range command.Subcommands {
				sub.OnUsageError = commandline.WrongFlag
			}
			app.Commands = append(app.Commands, command)
		}
	}
	return app
}
