package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/internal/nearest"
)

// The exit statuses beside 0.
const (
	statusFailed      = 1
	statusWrong       = 2
	statusInterrupted = 130
)

// statusError ends the program with an exit status after everything has been said.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a command line that cannot be carried out.
type usageError struct {
	message string
	usage   string // of the command
}

func (e usageError) Error() string { return e.message }

func wrongUsage(c *cli.Context, format string, values ...any) error {
	usage := c.Command.UsageText
	if usage == "" { // of the root command
		usage = c.App.UsageText
	}
	return usageError{fmt.Sprintf(format, values...), usage}
}

// conclude prints what is left to say about an error and returns the exit status.
func conclude(err error, w io.Writer) int {
	var status statusError
	var usage usageError
	var mistakes config.Errors
	var mistake config.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &usage):
		fmt.Fprintf(w, "iwrun: %s\n\nUsage:\n  %s\nAll flags: iwrun --help\n",
			usage.message, strings.ReplaceAll(usage.usage, "\n", "\n  "))
		return statusWrong
	case errors.As(err, &mistakes), errors.As(err, &mistake):
		fmt.Fprintln(w, err)
		return statusWrong
	}
	fmt.Fprintf(w, "iwrun: %v\n", err)
	return statusFailed
}

// wrongFlag is called for flags that cannot be parsed.
func wrongFlag(c *cli.Context, err error, _ bool) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return wrongUsage(c, "%v", err)
	}
	var names []string
	for _, flag := range c.Command.Flags {
		for _, known := range flag.Names() {
			names = append(names, dashed(known))
		}
	}
	if near := nearest.Name(dashed(strings.TrimLeft(name, "-")), names); near != "" {
		return wrongUsage(c, "there is no flag %s; did you mean %s?", dashed(name), near)
	}
	return wrongUsage(c, "there is no flag %s", dashed(name))
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// withoutArguments calls action if nothing but flags was given.
func withoutArguments(c *cli.Context, action func() error) error {
	if !c.Args().Present() {
		return action()
	}
	var names []string
	for _, command := range c.App.VisibleCommands() {
		names = append(names, command.Name)
	}
	argument := c.Args().First()
	if near := nearest.Name(argument, names); near != "" {
		return wrongUsage(c, "%q is no command; did you mean %s?", argument, near)
	}
	return wrongUsage(c, "%q is neither a flag nor a command", argument)
}
