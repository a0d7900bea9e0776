package main

import (
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/plan"
)

// experimentOptions name experiments and where their results are.
type experimentOptions struct {
	Configs []string // paths of experiment files; most commands take one
	Results string   // folder
	Set     []string // assignments path=value
}

func experimentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "config", Aliases: []string{"c"}, Usage: "experiment `FILE`"},
		&cli.StringFlag{Name: "results", Aliases: []string{"o"}, Value: "results", Usage: "`FOLDER` of all results"},
		&cli.StringSliceFlag{Name: "set", Usage: "set a key of the file, `KEY=VALUE`, as in train.epochs=2 or 'methods=[iwdan]'; may be repeated"},
	}
}

func experimentOptionsOf(c *cli.Context) experimentOptions {
	return experimentOptions{
		Configs: where(c, "config").StringSlice("config"),
		Results: where(c, "results").String("results"),
		Set:     where(c, "set").StringSlice("set"),
	}
}

// where returns the context in which the flag was given: it may stand before the
// command as well as after it.
func where(c *cli.Context, flag string) *cli.Context {
	for _, context := range c.Lineage() {
		if slices.Contains(context.LocalFlagNames(), flag) {
			return context
		}
	}
	return c
}

// load reads the experiment file and makes the assignments.
func (o experimentOptions) load() (*config.File, error) {
	if len(o.Configs) > 1 {
		return nil, usageError("-c: one experiment at a time; only table --kind average takes several", "iwrun -c FILE [options]")
	}
	files, err := o.loadAll()
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// loadRuns reads the experiment file as load does and returns its runs too.
func (o experimentOptions) loadRuns() (*config.File, []plan.Run, error) {
	file, err := o.load()
	if err != nil {
		return nil, nil, err
	}
	runs, err := plan.Runs(file)
	return file, runs, err
}

// loadAll reads the experiment files, of which there is at least one, and makes the
// assignments in each.
func (o experimentOptions) loadAll() ([]*config.File, error) {
	if len(o.Configs) == 0 {
		return nil, usageError("which experiment? name its file with -c FILE", "iwrun -c FILE [options]")
	}
	var files []*config.File
	for _, path := range o.Configs {
		file, err := config.Load(path)
		var mistakes config.Errors
		switch {
		case errors.As(err, &mistakes):
			return nil, err
		case err != nil:
			return nil, config.Error{Location: path, Message: "cannot be read: " + err.Error()}
		}
		if err := file.Set(o.Set); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
