package main

import (
	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt"
	"iwda/datasets/table"
	"iwda/internal/commandline"
	"iwda/internal/printable"
)

// columnFlags name the columns of tables of features that are none.
func columnFlags(to *table.Roles) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "label-column", Destination: &to.Label, Usage: "`NAME` of the column of labels, instead of label"},
		&cli.StringFlag{Name: "id-column", Destination: &to.ID, Usage: "`NAME` of the column of ids, instead of id"},
		&cli.StringSliceFlag{Name: "ignore", Usage: "`NAME` of a column to leave out; may be repeated, or name several as a line of CSV",
			Action: func(_ *cli.Context, values []string) error {
				to.Ignore = values
				return nil
			}},
		commandline.Decimal(&to.Decimal),
	}
}

// domainFlags are those of columns of two domains, which may be in one file.
func domainFlags(to *adapt.Naming) []cli.Flag {
	return append(append(columnFlags(&to.Roles),
		&cli.StringFlag{Name: "group-column", Destination: &to.Group, Usage: "`NAME` of the column that says which rows belong together, such as the visits of a patient: they are held out together, and count as one in intervals"},
		&cli.StringFlag{Name: "domain-column", Destination: &to.DomainColumn, Usage: "`NAME` of the column that says to which domain each row belongs, if one file has both"}),
		commandline.Advanced(
			&cli.StringFlag{Name: "source-domain", Destination: &to.DomainValue, DefaultText: "the one whose rows all have labels", Usage: "with --domain-column: its `VALUE` in the source"},
			&cli.StringFlag{Name: "target-domain", Destination: &to.TargetValue, DefaultText: "the other one", Usage: "with --domain-column: its `VALUE` in the target"},
		)...)
}

// networkFlag is that of the network for images.
func networkFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "network", Destination: to, DefaultText: "ResNet-50 with pretrained weights",
		Usage: "`NETWORK` for images: " + adapt.SmallNetwork + ", trained from scratch on 28 × 28 pixels",
		Action: func(_ *cli.Context, name string) error {
			if name != adapt.SmallNetwork {
				return wrongUsage("--network %s: there is %s; iwrun adapt has others, as with %s in its place", name, adapt.SmallNetwork, printable.Command("--set", "network.name="+name))
			}
			return nil
		}}
}

// domainPaths are the paths of two domains, as arguments or by flags, of which one will do if a column
// tells the domains apart.
func domainPaths(c *cli.Context, source, target string, n adapt.Naming) (_, _ string, err error) {
	left := commandline.Fill(c.Args().Slice(), &source, &target)
	switch {
	case len(left) > 0:
		err = wrongUsage("%q is one too many: a source and a target", left[0])
	case source == "" || target == "" && n.DomainColumn == "":
		err = wrongUsage("which domains? name a source and a target, or one file with both and --domain-column")
	}
	return source, target, err
}
