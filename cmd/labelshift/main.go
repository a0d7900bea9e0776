// Command labelshift is iwrun labelshift without libtorch: it estimates how frequent the
// classes are in data without labels, from the predictions of anyone's classifier.
//
//	labelshift source.csv target.csv
//
// It is pure Go: CGO_ENABLED=0 go install iwda/cmd/labelshift in the repository makes a
// program that runs wherever it is copied. docs/explanation/label-shift.md explains it.
//
// The table goes to standard output, everything else to standard error. The exit status is
// 0 if all is done, 1 if it failed and 2 for wrong usage or input that cannot be read.
package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/labelshift/command"
	"iwda/internal/commandline"
	"iwda/internal/version"
)

func main() {
	os.Exit(run(nameOf(os.Args[0]), os.Args[1:], commandline.Output(os.Stdout), commandline.Output(os.Stderr)))
}

// nameOf returns what a user calls the program that was started by the path:
// "iwrun labelshift" where iwrun did so, as iwrun-labelshift.
func nameOf(path string) string {
	name := filepath.Base(path)
	if command, ok := strings.CutPrefix(name, "iwrun-"); ok {
		return "iwrun " + command
	}
	return name
}

// run carries out a command line of the program of that name and returns the exit status.
func run(name string, arguments []string, to, err io.Writer) int {
	out := &commandline.Kept{Writer: to}
	return out.Status(name, carryOut(name, arguments, out, err), err)
}

func carryOut(name string, arguments []string, out, err io.Writer) int {
	of := command.New(name, out, err)
	app := &cli.App{
		Name: name, Usage: of.Usage, UsageText: of.UsageText, Description: of.Description,
		Version: version.Version,
		Writer:  out, ErrWriter: err,
		Flags: of.Flags, Action: of.Action,
		HideHelpCommand: true,
		OnUsageError:    commandline.WrongFlag,
		ExitErrHandler:  func(*cli.Context, error) {}, // Conclude does that
	}
	if _, help := commandline.Asked(app, arguments); help {
		return commandline.Conclude(app, nil, commandline.Help(app, nil, out), err)
	}
	return commandline.Conclude(app, nil, app.Run(append([]string{name}, commandline.FlagsFirst(of.Flags, arguments)...)), err)
}
