package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/internal/commandline"
)

func newDataCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "data",
		Usage:     "say which data sets there are, and check copies of them",
		UsageText: "iwrun data list\niwrun data check NAME",
		Description: `Examples:
  iwrun data list
  iwrun data check office31`,
		Subcommands: []*cli.Command{{
			Name:      "list",
			Usage:     "say which data sets there are, where they come from and what goes where",
			UsageText: "iwrun data list",
			Description: `Examples:
  iwrun data list`,
			Action: withoutArguments(func(*cli.Context) error {
				for i, data := range catalogue.All() {
					if i > 0 {
						fmt.Fprintln(s.out)
					}
					fmt.Fprintf(s.out, "%s\n%s\n", data.Name, data.Instructions(config.Default(data).Dataset.Root))
				}
				return nil
			}),
		}, {
			Name:      "check",
			Usage:     "say which files of a data set are missing, extra or broken",
			UsageText: "iwrun data check NAME [--root FOLDER]",
			Description: `Examples:
  iwrun data check office31
  iwrun data check digits --root data/digits`,
			Flags: []cli.Flag{&cli.StringFlag{Name: "root", Usage: "`FOLDER` of the data, instead of NAME in $IWDA_DATA"}},
			Action: func(c *cli.Context) error {
				if c.NArg() != 1 {
					return commandline.WrongUsage("which data set? one of %s", strings.Join(checkable(), ", "))
				}
				return runDataCheck(c.Args().First(), c.String("root"), s)
			},
		}},
		Action: func(*cli.Context) error {
			return commandline.WrongUsage("what of the data? list or check")
		},
	}
}

// checkable returns the names of the data sets that a copy can be compared with.
func checkable() []string {
	var names []string
	for _, data := range catalogue.All() {
		if data.Checkable() {
			names = append(names, data.Name)
		}
	}
	return names
}

// runDataCheck checks the copy in the folder root, or where it is by default.
func runDataCheck(name, root string, s streams) error {
	data, err := catalogue.Find(name)
	switch {
	case err != nil:
		return commandline.WrongUsage("%v", err)
	case !data.Checkable():
		return commandline.WrongUsage("%s has no published form to compare a copy with; these have: %s", name, strings.Join(checkable(), ", "))
	}
	root = cmp.Or(root, config.Default(data).Dataset.Root)
	if _, err := os.Stat(root); err != nil {
		return err
	}
	ctx, stop := commandline.Interruptible()
	defer stop()
	if err := data.Check(ctx, root, s.out); errors.Is(err, context.Canceled) {
		return err
	} else if err != nil {
		fmt.Fprintf(s.err, "iwrun: %v\n", err) // what is missing was found, as it was asked for
		return statusError(commandline.StatusFailed)
	}
	return nil
}
