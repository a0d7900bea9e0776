package main

import (
	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/printable"
)

func newCheckDataCommand(s streams) *cli.Command {
	var n adapt.Naming
	var network string
	return &cli.Command{
		Name:      "check-data",
		Usage:     "show what iwrun adapt sees in your data, column by column",
		UsageText: "iwrun check-data SOURCE TARGET\niwrun check-data FILE --domain-column NAME",
		Description: `SOURCE and TARGET are what iwrun adapt takes: files of features or folders of images. Nothing is trained or
written. The exit status is 2 if iwrun adapt would refuse the data.

Examples:
  iwrun check-data source.csv target.csv
  iwrun check-data flowers.csv --label-column species --domain-column garden`,
		Flags: append(domainFlags(&n), networkFlag(&network)),
		Action: func(c *cli.Context) error {
			source, target, err := domainPaths(c, "", "", n)
			if err != nil {
				return err
			}
			ctx, stop := commandline.Interruptible()
			defer stop()
			given := commandline.AsGiven(source, target)
			return input.Wrong(given.Error(adapt.CheckData(ctx, given.Writer(printable.Fold(s.out)), source, target, n, network)))
		},
	}
}
