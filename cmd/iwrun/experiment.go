package main

import (
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
)

// experimentOptions name an experiment and where its results are.
type experimentOptions struct {
	Config  string   // path of the experiment file
	Results string   // folder
	Set     []string // assignments path=value
}

func experimentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "experiment `FILE`"},
		&cli.StringFlag{Name: "results", Aliases: []string{"o"}, Value: "results", Usage: "`FOLDER` of all results"},
		&cli.StringSliceFlag{Name: "set", Usage: "set a key of the file, `KEY=VALUE`, as in train.epochs=2 or 'methods=[iwdan]'; may be repeated"},
	}
}

func experimentOptionsOf(c *cli.Context) experimentOptions {
	return experimentOptions{
		Config:  where(c, "config").String("config"),
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
	if o.Config == "" {
		return nil, usageError{"which experiment? name its file with -c FILE", "iwrun -c FILE [options]"}
	}
	file, err := config.Load(o.Config)
	var mistakes config.Errors
	switch {
	case errors.As(err, &mistakes):
		return nil, err
	case err != nil:
		return nil, config.Error{Location: o.Config, Message: "cannot be read: " + err.Error()}
	}
	return file, file.Set(o.Set)
}
