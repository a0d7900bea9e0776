package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/engine"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

// extractOptions say which network's features of an experiment's data are written.
type extractOptions struct {
	experimentOptions
	workOptions
	Run string // id of a finished run, or empty for the pretrained backbone
}

func newExtractCommand(s streams) *cli.Command {
	var o extractOptions
	return &cli.Command{
		Name:      "extract",
		Usage:     "write features of every domain into .npz files",
		UsageText: "iwrun extract -c FILE [--run ID]",
		Description: `For each domain of the tasks, the command writes DOMAIN.npz with features (n×d), names of classes, labels (n), if
there are any, and the paths of images as ids. Test sets go into DOMAIN-test.npz. It prints the paths. The files are in the
experiment's results, in a folder for each network: features/resnet50-19c8e357, or features/ID with --run. iwrun adapt and the
data set "files" can read them.

Examples:
  iwrun extract -c configs/office31.yaml
  iwrun extract -c configs/digits.yaml --run subsampled/usps-mnist/iwdan/seed-1`,
		Flags: append(append(o.experimentFlags(), o.deviceFlags()...),
			&cli.StringFlag{Name: "run", Destination: &o.Run, Usage: "take the network of the finished run `ID`, as in subsampled/usps-mnist/iwdan/seed-1, instead of the pretrained backbone"}),
		Action: withoutArguments(func(*cli.Context) error { return runExtract(o, s) }),
	}
}

func runExtract(o extractOptions, s streams) error {
	file, runs, err := o.loadRuns()
	if err != nil {
		return err
	}
	chosen, checkpoint := runs[0], ""
	if o.Run != "" {
		only, err := plan.Only(runs, []string{o.Run})
		if err != nil {
			return err
		}
		if len(only) != 1 {
			return wrongUsage("--run %s fits %d runs; name one", o.Run, len(only))
		}
		chosen = only[0]
		checkpoint = chosen.Dir(o.Results).Path(store.CheckpointFile)
	}
	domains := domainsOf(runs)
	for i := range domains {
		domains[i].run.Config.Network = chosen.Config.Network
		if err := plan.CheckData([]plan.Run{domains[i].run}); err != nil {
			return err
		}
	}
	folder := filepath.Join(o.Results, file.Config.Experiment, "features", o.network(chosen))
	if err := checkFeatures(folder, domains); err != nil {
		return err
	}
	for _, d := range domains {
		work, err := o.workOf(d.run, o.Device)
		if err != nil {
			return err
		}
		with := engine.Extraction{Work: work, Checkpoint: checkpoint, Domain: d.name, Files: d.files(folder)}
		var written []engine.Extracted
		if err := s.ask(engine.Extract, with, &written); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		for _, of := range written {
			fmt.Fprintf(s.err, "%s: %s of %s\n", of.File, printable.Count(of.Rows, "row"), printable.Count(of.Width, "feature"))
		}
		fmt.Fprintln(s.out, written[0].File)
	}
	return nil
}

// network is the folder of a network's features: the id of its run, or the name of the file that its
// backbone is read from.
func (o extractOptions) network(chosen plan.Run) string {
	if o.Run != "" {
		return chosen.ID.String()
	}
	file := filepath.Base(cmp.Or(chosen.Config.Network.File, chosen.Config.Network.Pretrained))
	return strings.TrimSuffix(file, filepath.Ext(file))
}

// checkFeatures refuses to replace the files that the features are computed from.
func checkFeatures(folder string, domains []taskDomain) error {
	var written, read []string
	for _, d := range domains {
		data, err := d.run.Config.Dataset.Described()
		if err != nil {
			return err
		}
		written = append(written, d.files(folder)...)
		read = append(read, data.RowFiles(d.run.Config.Dataset.Root)...)
	}
	if err := wholefile.CheckApart(written, read); err != nil {
		return wrongUsage("%v", err)
	}
	return nil
}

// taskDomain is a domain, and the first run that has it, as source or target.
type taskDomain struct {
	name string
	run  plan.Run
}

// files are the paths of its features in a folder, of its training set and of its test set.
func (d taskDomain) files(folder string) []string {
	return []string{filepath.Join(folder, d.name+".npz"), filepath.Join(folder, d.name+"-test.npz")}
}

// domainsOf returns the domains of the runs, each once, in order.
func domainsOf(runs []plan.Run) []taskDomain {
	var domains []taskDomain
	for _, run := range runs {
		sources, target := run.Config.Domains()
		for _, name := range append(sources, target) {
			if !slices.ContainsFunc(domains, func(d taskDomain) bool { return d.name == name }) {
				domains = append(domains, taskDomain{name, run})
			}
		}
	}
	return domains
}
