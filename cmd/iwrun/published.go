package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/urfave/cli/v2"

	"iwda/experiments/published"
	"iwda/torch"
)

// publishedOptions say which published experiment is repeated, and where.
type publishedOptions struct {
	Protocol string // path of its file
	Digits   string // folder of MNIST
	Results  string // folder of all results
	Format   string
	Parallel int
}

func newPublishedCommand(s streams) *cli.Command {
	var format string
	return &cli.Command{
		Name:      "published",
		Usage:     "repeat a published experiment on label shift, beside its numbers",
		UsageText: "iwrun published -c FILE [-o FOLDER] [--digits FOLDER] [-j NUMBER] [--format md|tex|csv|json]",
		Description: "Trains the protocol's networks on MNIST, keeps their logits in logits/ in the experiment's folder of results, estimates class weights on " +
			"the protocol's draws and prints the table with the published numbers. Networks whose logits are there are not trained again.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "protocol `FILE`"},
			&cli.StringFlag{Name: "results", Aliases: []string{"o"}, Value: "results", Usage: "`FOLDER` of all results"},
			&cli.StringFlag{Name: "digits", Value: digitsFolder(), DefaultText: "$IWDA_DATA/digits", Usage: "`FOLDER` of MNIST's files"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, DefaultText: "one a core", Usage: "`NUMBER` of networks trained, and of draws made, at a time"},
			formatFlag(&format),
		},
		Action: withoutArguments(func(c *cli.Context) error {
			o := publishedOptions{
				Protocol: c.String("config"), Digits: c.String("digits"), Results: c.String("results"),
				Format: format, Parallel: c.Int("jobs"),
			}
			if o.Protocol == "" {
				return wrongUsage(c, "which protocol? name its file with -c FILE")
			}
			return runPublished(o, s)
		}),
	}
}

func digitsFolder() string {
	root := os.Getenv("IWDA_DATA")
	if root == "" {
		root = "data"
	}
	return filepath.Join(root, "digits")
}

func runPublished(o publishedOptions, s streams) error {
	protocol, err := published.Load(o.Protocol)
	if err != nil {
		return usageError(err.Error(), "iwrun published -c FILE")
	}
	torch.TuneAllocator()
	ctx, stop := interruptible()
	defer stop()
	var saying sync.Mutex
	table, err := published.Run(ctx, protocol, published.Options{
		Digits: o.Digits, Results: o.Results, Parallel: o.Parallel,
		Say: func(format string, values ...any) {
			saying.Lock()
			defer saying.Unlock()
			fmt.Fprintf(s.err, format+"\n", values...)
		},
	})
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(s.err, "interrupted; the same command goes on with the networks that are trained")
		return statusError(statusInterrupted)
	case err != nil:
		return err
	}
	return table.Write(s.out, o.Format)
}
