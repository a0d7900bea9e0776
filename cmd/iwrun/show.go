package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt"
	"iwda/adaptation/adapt/names"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/inference/trust"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/printable"
)

func newShowCommand(s streams) *cli.Command {
	var asJSON, fail bool
	var needs []string
	return &cli.Command{
		Name:      "show",
		Usage:     "say what a folder of iwrun holds, and what to do next",
		UsageText: "iwrun show FOLDER [--json] [--need TEXT]",
		Description: `For a folder of iwrun adapt, the command shows how many predictions should be right, whether that is enough, the class
shares, and what to do next. For a run, a model or results of experiments, it shows what the folder is, and the next command to use.

Examples:
  iwrun show adapt-out
  iwrun show adapt-out --need 'accuracy >= 0.9' --fail
  iwrun show adapt-out --json`,
		Flags: []cli.Flag{jsonFlag(&asJSON), commandline.Needs(&needs), commandline.Fail(&fail)},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return wrongUsage("name one folder, such as adapt-out")
			}
			folder := filepath.Clean(c.Args().First())
			switch {
			case len(needs) > 0 || fail:
				return showNeeds(folder, needs, fail, asJSON, s)
			case asJSON:
				return printOutcome(folder, s)
			}
			return input.Wrong(show(folder, s))
		},
	}
}

// showNeeds shows the outcome of a folder with answers to other needs, or those that it has.
func showNeeds(folder string, needs []string, fail, asJSON bool, s streams) error {
	outcome, err := adapt.ReadOutcome(folder)
	if err == nil {
		err = outcome.Ask(needs)
	}
	if err != nil {
		return input.Wrong(err)
	}
	if asJSON {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(outcome)
	} else {
		outcome.Print(s.out, folder)
	}
	if err == nil && fail {
		err = trust.Check(outcome.Needs)
	}
	return err
}

// printOutcome copies the outcome.json of a folder.
func printOutcome(folder string, s streams) error {
	text, err := input.Read(filepath.Join(folder, names.Outcome), input.Text)
	if err != nil {
		return input.Wrong(err)
	}
	_, err = s.out.Write(text)
	return err
}

// show says what a folder is, and what to do with it.
func show(folder string, s streams) error {
	if err := checkFolder(folder); err != nil {
		return err
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
				return false
			}
		}
		return true
	}
	say := func(what string, next ...string) error {
		fmt.Fprintf(s.out, "%s: %s\n", folder, what)
		if len(next) > 0 {
			fmt.Fprintln(s.out, "next: "+printable.Command(next...))
		}
		return nil
	}
	predict := []string{"iwrun", "predict", folder, "INPUT", "-o", "FILE"}
	switch {
	case has(names.Outcome):
		outcome, err := adapt.ReadOutcome(folder)
		if err != nil {
			return err
		}
		outcome.Print(s.out, folder)
		return nil
	case has(names.Experiment, names.Runs):
		finished, begun, _ := countRuns(folder)
		source, target, err := adapt.Domains(folder)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("iwrun adapt is not finished: %d of %d started runs are finished", finished, begun)
		if !source.None() || !target.None() { // what was said of columns is not said again
			return say(what + "; give the same command again to continue")
		}
		return say(what, "iwrun", "adapt", source.Path, target.Path, "-o", folder)
	case has(store.ConfigFile):
		run, dir, err := plan.Open(folder)
		if err != nil {
			return err
		}
		if result, err := dir.ReadResult(); err == nil {
			what := fmt.Sprintf("the finished run %s of %s", run.ID, result.Experiment)
			if accuracy := result.LastAccuracy; accuracy.Measured {
				what += fmt.Sprintf(", which is right on %.2f%% of the labelled target rows", 100*accuracy.Value)
			}
			return say(what, predict...)
		}
		return say(fmt.Sprintf("the run %s, which is not finished", run.ID),
			"iwrun", "run", "-c", filepath.Join(folder, store.ConfigFile), "-o", resultsOf(folder))
	}
	if models, _, err := model.Describe(folder); err == nil {
		what := "a model"
		if len(models) > 1 {
			what = fmt.Sprintf("%d models that predict together", len(models))
		}
		return say(fmt.Sprintf("%s, for the classes %.200q", what, models[0].Classes), predict...)
	}
	if finished, begun, first := countRuns(folder); begun > 0 {
		return say(fmt.Sprintf("results of experiments: %d of %d runs are finished", finished, begun), "iwrun", "table", "-c", "FILE", "-o", resultsOf(first))
	}
	return nothingOf(folder)
}

// foldersOf are those that can be asked about.
const foldersOf = "name the folder of iwrun adapt, of a run, of a model, or of results"

// nothingOf is the error of a folder in which nothing is known.
func nothingOf(folder string) error {
	return errors.New(folder + " holds nothing that iwrun has written; " + foldersOf)
}

// checkFolder returns an error for what is no folder that can be read.
func checkFolder(path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return errors.New(path + " is a file; " + foldersOf)
	}
	_, err := os.ReadDir(path)
	return err
}

// resultsOf returns the folder of all results in which a run's lies, below its experiment, variant,
// task, method and seed.
func resultsOf(run string) string { return filepath.Join(run, "../../../../..") }

// countRuns counts the runs below a folder, and returns the folder of the first one.
func countRuns(folder string) (finished, begun int, first string) {
	filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir():
		case entry.Name() == store.ResultFile:
			finished++
		case entry.Name() == store.ConfigFile:
			begun++
			first = cmp.Or(first, filepath.Dir(path))
		}
		return nil
	})
	return finished, begun, first
}
