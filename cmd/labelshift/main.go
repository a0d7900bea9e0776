// Command labelshift is iwrun labelshift without libtorch: it estimates how frequent the
// classes are in data without labels, from the predictions of anyone's classifier.
//
//	labelshift --source source.csv --target target.csv
//
// It is pure Go: CGO_ENABLED=0 go install iwda/cmd/labelshift in the repository makes a
// program that runs wherever it is copied. docs/labelshift.md explains it.
//
// The table goes to standard output, everything else to standard error. The exit status is
// 0 if all is done, 1 if it failed and 2 for wrong usage.
package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"iwda/experiments/labelshift/command"
	"iwda/internal/commandline"
	"iwda/internal/version"
)

const name = "labelshift"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out a command line and returns the exit status.
func run(arguments []string, out, err io.Writer) int {
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
	return commandline.Conclude(name, app.Run(append([]string{name}, commandline.FlagsFirst(of.Flags, arguments)...)), err)
}
