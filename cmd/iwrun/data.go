package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"iwda/datasets"
	"iwda/experiments/paper"
	"iwda/experiments/report"
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
	counts := knownCounts
	if root != "" {
		digits, err := countDigits(root)
		if err != nil {
			return err
		}
		counts = func(dataset, domain string) ([]int, error) {
			if own, ok := digits[domain]; ok && dataset == "digits" {
				return own, nil
			}
			return knownCounts(dataset, domain)
		}
	}
	sheet, err := report.DivergenceSheet(counts)
	if err != nil {
		return err
	}
	return sheetFormats[format](sheet, s.out)
}

func knownCounts(dataset, domain string) ([]int, error) {
	counts, ok := paper.LabelCounts(dataset, domain)
	if !ok {
		return nil, fmt.Errorf("no number of images is known of %s, %s", dataset, domain)
	}
	return counts, nil
}

// countDigits returns the images per class of the training sets in the folder.
func countDigits(root string) (map[string][]int, error) {
	mnist, errMNIST := datasets.LoadDigits(root, "mnist-train", "")
	usps, errUSPS := datasets.LoadDigits(root, "usps-train", "")
	if err := errors.Join(errMNIST, errUSPS); err != nil {
		return nil, err
	}
	return map[string][]int{mnist.Name(): datasets.Counts(mnist), usps.Name(): datasets.Counts(usps)}, nil
}
