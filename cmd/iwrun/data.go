package main

import (
	"github.com/urfave/cli/v2"

	"iwda/datasets/catalogue"
	"iwda/experiments/report/table"
)

func newDataCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "data",
		Usage:       "what is known of the data sets",
		UsageText:   "iwrun data list|jsd\niwrun data check [--root FOLDER] NAME",
		Subcommands: []*cli.Command{newDataListCommand(s), newDataCheckCommand(s), newDivergenceCommand(s)},
		Action: func(c *cli.Context) error {
			return wrongUsage(c, "what of the data? list, check or jsd")
		},
	}
}

func newDivergenceCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "jsd",
		Usage:     "print the divergences between the label distributions of the paper's tasks",
		UsageText: "iwrun data jsd [--root FOLDER] [--format md|tex|csv|json]",
		Flags: []cli.Flag{
			formatFlag(),
			&cli.StringFlag{Name: "root", Usage: "count the images of the digits in `FOLDER`, with the files of MNIST and USPS, instead of taking their known numbers"},
		},
		OnUsageError: wrongFlag,
		Action: func(c *cli.Context) error {
			if err := checkFormat(c); err != nil {
				return err
			}
			if c.Args().Present() {
				return wrongUsage(c, "%q is no flag", c.Args().First())
			}
			return runDivergence(c.String("root"), c.String("format"), s)
		},
	}
}

func runDivergence(root, format string, s streams) error {
	counts := table.PublishedCounts
	if root != "" {
		own, err := countInMemory(root)
		if err != nil {
			return err
		}
		counts = func(dataset, domain string) ([]int, error) {
			if of, ok := own[dataset][domain]; ok {
				return of, nil
			}
			return table.PublishedCounts(dataset, domain)
		}
	}
	divergences, err := table.Divergences(counts)
	if err != nil {
		return err
	}
	return divergences.Write(s.out, format)
}

// countInMemory counts the training images in the folder root of each class, by data set
// and domain, of those data sets of files that are read as a whole.
func countInMemory(root string) (map[string]map[string][]int, error) {
	counts := map[string]map[string][]int{}
	for _, data := range catalogue.All() {
		if data.Kind != catalogue.SmallImages || data.Drawn() {
			continue
		}
		of, err := data.TrainCounts(root)
		if err != nil {
			return nil, err
		}
		counts[data.Name] = of
	}
	return counts, nil
}
