// Package commandline is what our programs share in reading their command lines, in saying what
// is wrong with them, and in their help, manuals and completion, which all follow from the
// definitions of commands.
package commandline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/internal/nearest"
	"iwda/internal/printable"
)

// The exit statuses of an error, beside 0.
const (
	StatusFailed = 1
	StatusWrong  = 2 // wrong usage, or a configuration or an input that cannot be read as asked
)

// usageError is a command line that cannot be carried out.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// WrongUsage is the error of a command line that cannot be carried out: Conclude prints the command's
// usage after the message.
func WrongUsage(format string, values ...any) error {
	return usageError{fmt.Sprintf(format, values...)}
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

// Kept is a program's standard output, which keeps the first error of writing to it: most of those who
// print look at none.
type Kept struct {
	io.Writer
	err error
}

func (k *Kept) Write(text []byte) (int, error) {
	n, err := k.Writer.Write(text)
	k.err = cmp.Or(k.err, err)
	return n, err
}

// Unwrap returns the writer that it keeps the errors of.
func (k *Kept) Unwrap() io.Writer { return k.Writer }

// Status returns the exit status of a program that has ended with another one: if it says that all is
// done, but not all could be written, the program has failed, and w is told why.
func (k *Kept) Status(name string, status int, w io.Writer) int {
	if status != 0 || k.err == nil {
		return status
	}
	fmt.Fprintf(w, "%s: standard output: %v\n", name, k.err)
	return StatusFailed
}

// Conclude prints the error of a program's command, as [Asked] returns its path, and returns
// the exit status, 0 if there is none.
func Conclude(app *cli.App, path []string, err error, w io.Writer) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		name, of := app.Name, root(app)
		for _, word := range path {
			name, of = name+" "+word, command(of, word)
		}
		fmt.Fprintf(w, "%s: %s\n\nUsage:\n  %s\nHelp: %s --help\n", app.Name, usage.message, strings.ReplaceAll(of.UsageText, "\n", "\n  "), name)
		return StatusWrong
	}
	fmt.Fprintf(w, "%s: %s\n", app.Name, said(err))
	if status := (interface{ ExitStatus() int })(nil); errors.As(err, &status) {
		return status.ExitStatus()
	}
	if errors.Is(err, input.ErrWrong) || errors.Is(err, fs.ErrNotExist) {
		return StatusWrong
	}
	return StatusFailed
}

// said is an error's text; that of a file that is not there says what to do.
func said(err error) string {
	var at *fs.PathError
	if !errors.As(err, &at) || !errors.Is(at.Err, fs.ErrNotExist) {
		return err.Error()
	}
	do := "check the path"
	folder, name := filepath.Split(filepath.Clean(at.Path))
	entries, listed := os.ReadDir(cmp.Or(folder, "."))
	if near := nearest.Name(name, convert.Each(entries, fs.DirEntry.Name)); near != "" {
		do = "did you mean " + filepath.Join(folder, near) + "?"
	} else if listed != nil {
		do = "there is no folder " + filepath.Clean(folder) + " either: check the path"
	}
	text := strings.ReplaceAll(err.Error(), at.Error(), fmt.Sprintf("%s: no such file or folder; %s", at.Path, do))
	return strings.ReplaceAll(text, at.Path+": "+at.Path+":", at.Path+":")
}

// WrongFlag returns the error of flags that package cli cannot parse; see OnUsageError there.
func WrongFlag(c *cli.Context, err error, _ bool) error {
	if name, lacks := strings.CutPrefix(err.Error(), "flag needs an argument: "); lacks {
		return WrongUsage("%s needs a value", dashed(strings.TrimLeft(name, "-")))
	}
	flags := c.Command.Flags
	if len(flags) == 0 { // of the root command
		flags = c.App.Flags
	}
	if of := invalidValue.FindStringSubmatch(err.Error()); of != nil {
		at := slices.IndexFunc(flags, func(flag cli.Flag) bool { return slices.Contains(flag.Names(), of[2]) })
		return WrongUsage("%s is %s; want %s", dashed(of[2]), of[1], wanted(flags[at]))
	}
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return WrongUsage("%v", err)
	}
	var names []string
	for _, flag := range flags {
		for _, known := range flag.Names() {
			names = append(names, dashed(known))
		}
	}
	if near := nearest.Name(dashed(strings.TrimLeft(name, "-")), names); near != "" {
		return WrongUsage("there is no flag %s; did you mean %s?", dashed(name), near)
	}
	return WrongUsage("there is no flag %s", dashed(name))
}

// wanted describes the values that a flag can have.
func wanted(flag cli.Flag) string {
	switch flag.(type) {
	case *cli.BoolFlag:
		return "true or false"
	case *cli.DurationFlag:
		return "a time, as 90s or 1h30m"
	case *cli.Float64Flag, *cli.Float64SliceFlag:
		return "a number"
	case *cli.IntFlag, *cli.Int64Flag, *cli.IntSliceFlag:
		return "a whole number"
	case *cli.UintFlag, *cli.Uint64Flag:
		return "a whole number that is not negative"
	default:
		return "what its help says"
	}
}

// invalidValue matches what package flag says of a value that it cannot parse.
var invalidValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-+([^:]+): `)

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

// CommandFlagsFirst puts the flags of a program's command, or of its subcommand, before its other
// arguments, of which package cli asks.
func CommandFlagsFirst(app *cli.App, arguments []string) []string {
	if len(arguments) == 0 {
		return arguments
	}
	command, rest := app.Command(arguments[0]), arguments[1:]
	if command == nil {
		return arguments
	}
	if len(command.Subcommands) == 0 {
		return append([]string{command.Name}, FlagsFirst(command.Flags, rest)...)
	}
	for _, sub := range command.Subcommands {
		if len(rest) > 0 && sub.HasName(rest[0]) {
			return append([]string{command.Name, sub.Name}, FlagsFirst(sub.Flags, rest[1:])...)
		}
	}
	return arguments
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

// Between returns the check of a flag for a number, which says why it cannot be less than least; nor can
// it be more than most.
func Between[N int | float64 | time.Duration](least, most N, flag, why string) func(*cli.Context, N) error {
	return func(_ *cli.Context, n N) error {
		switch {
		case n > most:
			return WrongUsage("%s %v: at most %v; %s", flag, n, most, why)
		case !(n >= least):
			return WrongUsage("%s %v: %s", flag, n, why)
		}
		return nil
	}
}

// Needs are --need, which may be repeated.
func Needs(to *[]string) cli.Flag {
	return Strings(to, "need", "what you need of the predictions, as `TEXT`: 'accuracy >= 0.9', 'recall(CLASS) >= 0.8', 'precision(CLASS) >= 0.5' or 'share(CLASS) within 0.03'; may be repeated")
}

// Fail is --fail.
func Fail(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "fail", Destination: to, Usage: "exit with status 3 if a need is not met, and 4 if that cannot be told; without --need, the needs are to be better than the most frequent class and to lose no class of 2%"}
}

// Ending is the format of a file that is written, in lower case: the one that the end of its name says, one
// of those that are known, or else the one that was given, if any. The error names the flag.
func Ending(flag, path, given string, known ...string) (string, error) {
	end := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	switch says := slices.Contains(known, end); {
	case says && given != "" && end != given:
		return "", fmt.Errorf("%s %s and --format %s contradict each other: leave --format out, or let the name end with .%[3]s", flag, path, given)
	case says:
		return end, nil
	case given != "":
		return given, nil
	}
	return "", fmt.Errorf("%s %s: the name must end with .%s", flag, path, printable.Or(strings.Split(strings.Join(known, "\n."), "\n")))
}

// Format is --format, which sets to to one of the formats; the first is the usual one.
func Format(to *string, formats ...string) *Choice {
	return &Choice{Words: formats, StringFlag: &cli.StringFlag{
		Name: "format", Destination: to, Value: formats[0], Usage: "`FORMAT`: " + printable.Or(formats),
	}}
}

// Decimal is --decimal, which sets to to a point or a comma.
func Decimal(to *string) *Choice {
	return &Choice{Words: []string{".", ","}, StringFlag: &cli.StringFlag{
		Name: "decimal", Destination: to, DefaultText: "what the numbers say",
		Usage: "decimal `SIGN` of numbers in .csv and .tsv files: . or ,",
	}}
}

// ToStop returns the signals that ask a program to stop: SIGINT, SIGTERM, and the SIGHUP of a
// connection that is lost, unless nohup has the program ignore it.
func ToStop() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}

// Interruptible returns a context that a signal to stop cancels until stop is called.
func Interruptible() (ctx context.Context, stop func()) {
	return signal.NotifyContext(context.Background(), ToStop()...)
}
