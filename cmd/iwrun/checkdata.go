package main

import (
	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/printable"
)

func newCheckDataCommand(s streams) *cli.Command {
	var o domainFiles
	var n adapt.Naming
	var network string
	return &cli.Command{
		Name:      "check-data",
		Usage:     "say what iwrun adapt sees in your data, column by column",
		UsageText: "iwrun check-data SOURCE TARGET\niwrun check-data SOURCE… --target TARGET\niwrun check-data FILE --domain-column NAME",
		Description: `SOURCE and TARGET are what iwrun adapt takes: files of features or folders of images. Nothing is trained or
written. The exit status is 2 if iwrun adapt would refuse the data.

Examples:
  iwrun check-data source.csv target.csv
  iwrun check-data flowers.csv --label-column species --domain-column garden`,
		Flags: append(o.domainFlags(&n), networkFlag(&network)),
		Action: func(c *cli.Context) error {
			if err := o.take(c.Args().Slice(), n.DomainColumn); err != nil {
				return err
			}
			ctx, stop := commandline.Interruptible()
			defer stop()
			return input.Wrong(o.given().Error(adapt.CheckData(ctx, o.given().Writer(printable.Fold(s.out)), o.Sources, o.Target, n, network)))
		},
	}
}
