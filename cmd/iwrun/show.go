package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt"
	"iwda/adaptation/adapt/names"
	"iwda/inference/trust"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/wholefile"
)

func newShowCommand(s streams) *cli.Command {
	var asJSON, fail bool
	var needs []string
	return &cli.Command{
		Name:      "show",
		Usage:     "show what came of iwrun adapt, and what to do next",
		UsageText: "iwrun show FOLDER [--json] [--need TEXT]",
		Description: `The command shows how many predictions in the folder of iwrun adapt should be right, whether that is enough, the class
shares, and what to do next.

Examples:
  iwrun show adapt-out
  iwrun show adapt-out --need 'accuracy >= 0.9' --fail
  iwrun show adapt-out --json`,
		Flags: []cli.Flag{jsonFlag(&asJSON), commandline.Needs(&needs), commandline.Fail(&fail)},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return commandline.WrongUsage("name one folder, such as adapt-out")
			}
			folder, asked := filepath.Clean(c.Args().First()), len(needs) > 0 || fail
			outcome, err := outcomeOf(folder)
			if err == nil && asked {
				err = outcome.Ask(needs)
			}
			if err != nil {
				return input.Wrong(err)
			}
			if asJSON {
				err = wholefile.JSON(s.out, outcome, "  ") // as outcome.json has it
			} else {
				outcome.Print(s.out, folder)
			}
			if err == nil && fail {
				err = trust.Check(outcome.Needs)
			}
			return err
		},
	}
}

// outcomeOf reads the outcome of a folder. The error says what else the folder is.
func outcomeOf(folder string) (*adapt.Outcome, error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return nil, errors.New(folder + " is a file; name the folder of iwrun adapt")
	}
	if _, err := os.ReadDir(folder); err != nil {
		return nil, err
	}
	outcome, err := adapt.ReadOutcome(folder)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return outcome, err
	case names.Exists(filepath.Join(folder, names.Experiment)):
		return nil, fmt.Errorf("%s: iwrun adapt is not finished; give the same command again to continue", folder)
	}
	return nil, fmt.Errorf("%s holds no outcome of iwrun adapt; iwrun status -c FILE says of an experiment how far it is", folder)
}
