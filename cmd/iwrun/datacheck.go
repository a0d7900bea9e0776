package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/datasets"
	"iwda/datasets/images"
)

func newDataListCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "say which data sets there are, where they come from and what goes where",
		UsageText: "iwrun data list",
		Action: func(c *cli.Context) error {
			return withoutArguments(c, func() error {
				fmt.Fprintf(s.out, "digits\n%s\n", digitsInstructions(defaultRoot("digits")))
				for _, d := range images.Datasets() {
					fmt.Fprintf(s.out, "\n%s\n%s\n", d.Name, d.Instructions(defaultRoot(d.Name)))
				}
				return nil
			})
		},
	}
}

func newDataCheckCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:         "check",
		Usage:        "say what of a data set is missing, extra or broken",
		UsageText:    "iwrun data check [--root FOLDER] NAME",
		Flags:        []cli.Flag{&cli.StringFlag{Name: "root", Usage: "`FOLDER` of the data, instead of NAME in $IWDA_DATA"}},
		OnUsageError: wrongFlag,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return wrongUsage(c, "which data set? digits, office31, officehome or visda")
			}
			root := c.String("root")
			if root == "" {
				root = defaultRoot(c.Args().First())
			}
			return runDataCheck(c.Args().First(), root, s)
		},
	}
}

// defaultRoot is where the shipped experiments expect a data set.
func defaultRoot(name string) string {
	data := os.Getenv("IWDA_DATA")
	if data == "" {
		data = "data"
	}
	return filepath.Join(data, name)
}

func digitsInstructions(root string) string {
	return fmt.Sprintf("MNIST as IDX files (train-images-idx3-ubyte and the other three), USPS as LIBSVM's files usps and usps.t,\n"+
		"compressed (.gz, .bz2) or not, in %s.", root)
}

var errDataNotRight = errors.New("the data are not as published")

func runDataCheck(name, root string, s streams) error {
	if name == "digits" {
		return checkDigits(root, s.out)
	}
	description, err := images.Find(name)
	if err != nil {
		return usageError{err.Error(), "iwrun data check digits|office31|officehome|visda"}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer onSignals(cancel)()
	report, err := description.Check(ctx, root, nil)
	if err != nil {
		return err
	}
	writeReport(report, s.out)
	if !report.OK() {
		return errDataNotRight
	}
	return nil
}

func checkDigits(root string, out io.Writer) error {
	var problems []error
	for _, name := range []string{"mnist-train", "mnist-test", "usps-train", "usps-test"} {
		set, err := datasets.LoadDigits(root, name, "")
		if err == nil {
			err = datasets.CheckDigits(set)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		fmt.Fprintf(out, "%s: %d images, as published\n", set.Name(), set.Len())
	}
	return errors.Join(problems...)
}

// writeReport lists, domain by domain, what differs from the published data.
func writeReport(report *images.Report, out io.Writer) {
	for _, d := range report.Domains {
		if d.Err != nil {
			fmt.Fprintf(out, "%s: %v\n", d.Domain.Name, d.Err)
			continue
		}
		found := 0
		for _, n := range d.Counts {
			found += n
		}
		verdict := "as published"
		if !d.OK() {
			verdict = "not as published"
		}
		fmt.Fprintf(out, "%s: %d of %d images, %s\n", d.Domain.Name, found, d.Domain.Total(), verdict)
		for class, n := range d.Counts {
			if want := d.Domain.Counts[class]; n != want {
				fmt.Fprintf(out, "  %s: %d images, want %d\n", report.Dataset.Classes[class], n, want)
			}
		}
		for _, part := range []struct {
			what  string
			paths []string
		}{{"missing", d.Listing.MissingFiles}, {"of no class", d.Listing.ExtraFolders}, {"extra", d.Listing.ExtraFiles}} {
			for _, path := range part.paths {
				fmt.Fprintf(out, "  %s: %s\n", part.what, path)
			}
		}
		for _, broken := range d.Broken {
			fmt.Fprintf(out, "  broken: %s: %s\n", broken.Path, strings.TrimSpace(broken.Err.Error()))
		}
	}
}
