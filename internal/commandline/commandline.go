// Package commandline is what our programs share in reading their command lines and in
// saying what is wrong with them.
package commandline

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/internal/nearest"
	"iwda/internal/printable"
)

// The exit statuses of an error, beside 0.
const (
	StatusFailed = 1
	StatusWrong  = 2 // wrong usage or configuration: nothing was done
)

// usageError is a command line that cannot be carried out.
type usageError struct {
	message string
	usage   string // of the command
}

func (e usageError) Error() string { return e.message }

// UsageError is a command line that cannot be carried out, with the usage that Conclude
// prints after the message.
func UsageError(message, usage string) error { return usageError{message, usage} }

// WrongUsage is a UsageError with the usage of the context's command.
func WrongUsage(c *cli.Context, format string, values ...any) error {
	usage := c.Command.UsageText
	if usage == "" { // of the root command
		usage = c.App.UsageText
	}
	return usageError{fmt.Sprintf(format, values...), usage}
}

// Output returns what a program writes to a standard stream by. On a terminal, names that
// strangers gave show their control characters instead of steering it; files and pipes get all as
// it is.
func Output(file *os.File) io.Writer {
	if printable.IsTerminal(file) {
		return &printable.Screen{File: file}
	}
	return file
}

// Conclude prints an error of the program of that name and returns its exit status, 0 where
// there is none.
func Conclude(program string, err error, w io.Writer) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(w, "%s: %s\n\nUsage:\n  %s\nAll flags: %s --help\n",
			program, usage.message, strings.ReplaceAll(usage.usage, "\n", "\n  "), program)
		return StatusWrong
	}
	fmt.Fprintf(w, "%s: %v\n", program, err)
	return StatusFailed
}

// WrongFlag returns the error of flags that package cli cannot parse; see OnUsageError there.
func WrongFlag(c *cli.Context, err error, _ bool) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return WrongUsage(c, "%v", err)
	}
	flags := c.Command.Flags
	if len(flags) == 0 { // of the root command
		flags = c.App.Flags
	}
	var names []string
	for _, flag := range flags {
		for _, known := range flag.Names() {
			names = append(names, dashed(known))
		}
	}
	if near := nearest.Name(dashed(strings.TrimLeft(name, "-")), names); near != "" {
		return WrongUsage(c, "there is no flag %s; did you mean %s?", dashed(name), near)
	}
	return WrongUsage(c, "there is no flag %s", dashed(name))
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// takesValue reports whether the argument is a flag whose value is the next argument.
func takesValue(known []cli.Flag, argument string) bool {
	return slices.ContainsFunc(known, func(flag cli.Flag) bool {
		_, isSwitch := flag.(*cli.BoolFlag)
		return !isSwitch && isFlag(argument) && slices.Contains(flag.Names(), strings.TrimLeft(argument, "-"))
	})
}

// isFlag reports whether the argument is a flag, perhaps with its value; - alone is none.
func isFlag(argument string) bool {
	return argument != strings.TrimLeft(argument, "-") && strings.Trim(argument, "-") != ""
}

// CommandFirst puts the name of a program's command before all flags, and the command's
// flags before its other arguments, of which package cli asks.
func CommandFirst(app *cli.App, arguments []string) []string {
	name := 0
	for ; name < len(arguments) && isFlag(arguments[name]); name++ {
		if takesValue(app.Flags, arguments[name]) {
			name++
		}
	}
	if name >= len(arguments) {
		return arguments
	}
	command := app.Command(arguments[name])
	if command == nil || len(command.Subcommands) > 0 {
		return arguments
	}
	rest := slices.Concat(arguments[:name], arguments[name+1:])
	return append([]string{command.Name}, FlagsFirst(command.Flags, rest)...)
}

// FlagsFirst puts a command's flags before its other arguments, of which package cli asks.
func FlagsFirst(known []cli.Flag, arguments []string) []string {
	var flags, others []string
	for rest := arguments; len(rest) > 0; rest = rest[1:] {
		switch {
		case rest[0] == "--":
			return slices.Concat(flags, []string{"--"}, others, rest[1:])
		case !isFlag(rest[0]):
			others = append(others, rest[0])
		case takesValue(known, rest[0]) && len(rest) > 1:
			flags = append(flags, rest[0], rest[1])
			rest = rest[1:]
		default:
			flags = append(flags, rest[0])
		}
	}
	return slices.Concat(flags, others)
}

// Strings is a flag that may be repeated, whose values go to to.
func Strings(to *[]string, name, usage string, aliases ...string) cli.Flag {
	return &cli.StringSliceFlag{Name: name, Aliases: aliases, Usage: usage, Action: func(_ *cli.Context, values []string) error {
		*to = values
		return nil
	}}
}

// Format is --format, which sets to to one of the formats; the first is the usual one.
func Format(to *string, formats ...string) cli.Flag {
	last := len(formats) - 1
	listed := strings.Join(formats[:last], ", ") + " or " + formats[last]
	return &cli.StringFlag{
		Name: "format", Destination: to, Value: formats[0], Usage: "`FORMAT`: " + listed,
		Action: func(c *cli.Context, format string) error {
			if !slices.Contains(formats, format) {
				return WrongUsage(c, "--format %s: %s", format, listed)
			}
			return nil
		},
	}
}
