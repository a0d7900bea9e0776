package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/schedule"
	"iwda/internal/commandline"
	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/internal/nearest"
)

const statusInterrupted = schedule.StoppedStatus

// statusError ends the program with an exit status after everything has been said.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// conclude prints what is left to say about an error of a command and returns the exit status.
func conclude(app *cli.App, path []string, err error) int {
	var status statusError
	var mistakes config.Errors
	var mistake config.Error
	switch {
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(app.ErrWriter, app.Name+": interrupted")
		return statusInterrupted
	case errors.As(err, &mistakes): // lines that have their places
		for line := range strings.Lines(err.Error() + "\n") {
			fmt.Fprintf(app.ErrWriter, "%s: %s", app.Name, line)
		}
		return commandline.StatusWrong
	case errors.As(err, &mistake):
		err = input.Wrong(err)
	}
	return commandline.Conclude(app, path, err, app.ErrWriter)
}

// withoutArguments is the action if nothing but flags was given.
func withoutArguments(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return unexpected(c)
		}
		return action(c)
	}
}

// unexpected is the error of an argument where none is known.
func unexpected(c *cli.Context) error {
	names := convert.Each(c.App.VisibleCommands(), func(command *cli.Command) string { return command.Name })
	argument := c.Args().First()
	if slices.Contains(names, argument) {
		return commandline.WrongUsage("%[1]q is a command of its own, which comes first: iwrun %[1]s", argument)
	}
	if near := nearest.Name(argument, names); near != "" {
		return commandline.WrongUsage("%q is no command; did you mean %s?", argument, near)
	}
	return commandline.WrongUsage("%q is neither a flag nor a command", argument)
}
