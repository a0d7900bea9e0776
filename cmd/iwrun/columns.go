package main

import (
	"slices"

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
		commandline.Strings(&to.Ignore, "ignore", "`NAME` of a column to leave out; may be repeated"),
		commandline.Decimal(&to.Decimal),
	}
}

// domainFiles are paths of domains.
type domainFiles struct {
	Sources []string
	Target  string
}

// domainFlags are those of domains, which may be in one file, and of their columns.
func (d *domainFiles) domainFlags(to *adapt.Naming) []cli.Flag {
	return append(append(columnFlags(&to.Roles),
		&cli.StringFlag{Name: "target", Destination: &d.Target, Usage: "`FILE` or folder, instead of TARGET: all arguments are then sources"},
		&cli.StringFlag{Name: "group-column", Destination: &to.Group, Usage: "`NAME` of the column that says which rows belong together, such as the visits of a patient: they are held out together, and count as one in intervals; '' if no rows belong together, which is looked for otherwise",
			Action: func(_ *cli.Context, name string) error {
				to.Independent = name == ""
				return nil
			}},
		&cli.StringFlag{Name: "domain-column", Destination: &to.DomainColumn, Usage: "`NAME` of the column that says to which domain each row belongs, if one file has both"},
		formFlag(&to.Form, adapt.Table, "each column has its own meaning, the same in both domains (default with fewer than 48 columns)"),
		formFlag(&to.Form, adapt.Array, "all columns may have moved together, like those of pixels or embeddings (default with 48 columns or more)")),
		commandline.Advanced(
			commandline.Strings(&d.Sources, "source", "`FILE` or folder, instead of SOURCE; may be repeated"),
			commandline.Strings(&to.SourceValues, "source-domain", "with --domain-column: its `VALUE` in the source, by default the one whose rows all have labels; may be repeated"),
			&cli.StringFlag{Name: "target-domain", Destination: &to.TargetValue, DefaultText: "the other one", Usage: "with --domain-column: its `VALUE` in the target"},
		)...)
}

// formFlag says what the columns of features are.
func formFlag(to *string, form, means string) cli.Flag {
	return &cli.BoolFlag{Name: form, Usage: means,
		Action: func(_ *cli.Context, is bool) error {
			if is && *to != "" {
				return commandline.WrongUsage("--%s and --%s: rows are one or the other", adapt.Table, adapt.Array)
			}
			if is {
				*to = form
			}
			return nil
		}}
}

// networkFlag is that of the network for images.
func networkFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "network", Destination: to, DefaultText: "ResNet-50 with pretrained weights",
		Usage: "`NETWORK` for images: " + adapt.SmallNetwork + ", trained from scratch on 28 × 28 pixels",
		Action: func(_ *cli.Context, name string) error {
			if name != adapt.SmallNetwork {
				return commandline.WrongUsage("--network %s: there is %s; iwrun adapt has others, as with %s in its place", name, adapt.SmallNetwork, printable.Command("--set", "network.name="+name))
			}
			return nil
		}}
}

// take takes arguments for what no flag named: sources, of which there may be several if a flag names the target, and
// a target, unless a column tells the domains of one file apart.
func (d *domainFiles) take(arguments []string, column string) error {
	switch paths := append(slices.Clip(d.Sources), arguments...); {
	case d.Target != "" || len(paths) < 2:
		d.Sources = paths
	case len(paths) == 2:
		d.Sources, d.Target = paths[:1], paths[1]
	default:
		return commandline.WrongUsage("%q is one too many: a source and a target; if there are several sources, name the target with --target", paths[2])
	}
	if len(d.Sources) == 0 || d.Target == "" && column == "" {
		return commandline.WrongUsage("which domains? name a source and a target, or one file with both and --domain-column")
	}
	return nil
}

// given are the paths as they were given.
func (d *domainFiles) given() commandline.Given {
	return commandline.AsGiven(append(slices.Clip(d.Sources), d.Target)...)
}
