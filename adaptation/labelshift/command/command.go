// Package command is iwrun labelshift, the command line of package labelshift.
package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labelshift"
	"iwda/datasets/table"
	"iwda/experiments/report/sheet"
	"iwda/inference/trust"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
	"iwda/weightest"
	"iwda/weightest/calibration"
)

// options say which predictions class shares are estimated from, how, and what
// is written.
type options struct {
	labelshift.Settings
	Source, Target string
	Run            string // folder, in the place of both
	Kind           table.Kind
	Labels         string // of the source's file
	Decimal        string // sign before fractions, or empty
	TrainShares    string // "source", "uniform" or a file
	Corrected      string // file to write, or empty
	Format         string // of the table; empty: what Output says
	Output         string // file of the table; empty: standard output

	Group string // column
	Fail  bool

	out, err io.Writer
}

// The words of --train-shares that are no files.
const (
	sharesOfSource = "source"
	uniformShares  = "uniform"
)

// New returns the command as the words name it, which writes its table to out and what
// else it says to err.
func New(name string, out, err io.Writer) *cli.Command {
	usual, o := labelshift.Default(), &options{out: out, err: err}
	return &cli.Command{
		Name:  "labelshift",
		Usage: "estimate how frequent the classes are in data without labels",
		UsageText: name + " SOURCE TARGET [-o FILE]\n" +
			name + " --run FOLDER",
		Description: `SOURCE has a classifier's probabilities or logits on held-out rows with labels, TARGET on rows without:
` + table.Extensions + `. The command says whether more than the class shares changed, as far as the rows can tell. It prints the class
shares with intervals. docs/explanation/label-shift.md explains it.

Examples:
  ` + name + ` held-out.csv target.csv
  ` + name + ` held-out.csv target.csv -o shares.csv
  ` + name + ` --run results/digits/full/usps-mnist/dann/seed-1`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "output", Destination: &o.Output, Aliases: []string{"o"}, Usage: "write the table into `FILE`, whose end says the format: ." + strings.Join(sheet.Formats(), ", ."), DefaultText: "standard output"},
			formatFlag(&o.Format),
			&cli.StringFlag{Name: "corrected", Destination: &o.Corrected, Usage: "write the target's corrected predictions, with ids, into `FILE`, .csv"},
			&cli.StringFlag{Name: "run", Destination: &o.Run, Usage: "instead of both files: the held-out source rows and target rows of the finished run in `FOLDER`"},
			commandline.Needs(&o.Needs),
			commandline.Fail(&o.Fail),
			&cli.BoolFlag{Name: "label-shift", Destination: &o.LabelShift, Usage: "you know that only the class shares differ"},
			&cli.StringFlag{Name: "group-column", Destination: &o.Group, Usage: "`NAME` of the column that says which rows belong together, such as the visits of a patient: they count as one in intervals and tests"},
			&cli.Float64Flag{Name: "sets", Destination: &o.Settings.Sets, Usage: "find the set of classes that each row may have: it contains the row's class with this `PROBABILITY`, such as 0.9, whatever the class shares are; --corrected writes the sets", Action: commandline.Between(0, 1.0, "--sets", "want a probability between 0 and 1")},
		}, commandline.Advanced(
			Kind(&o.Kind),
			&cli.StringFlag{Name: "labels", Destination: &o.Labels, Usage: "`NAME` of the source's array or column of labels"},
			commandline.Decimal(&o.Decimal),
			&commandline.Choice{Words: weightest.EstimatorNames(), StringFlag: &cli.StringFlag{Name: "estimator", Destination: &o.Estimator, Value: usual.Estimator, Usage: "`NAME`: " + strings.Join(weightest.EstimatorNames(), ", ")}},
			&commandline.Choice{Words: calibration.Names(), StringFlag: &cli.StringFlag{Name: "calibration", Destination: &o.Calibration, Value: usual.Calibration, Usage: "`NAME`: " + strings.Join(calibration.Names(), ", ")}},
			&cli.IntFlag{Name: "replicas", Destination: &o.Replicas, Value: usual.Replicas, Usage: "`NUMBER` of the bootstrap's resamples, 0 for no intervals", Action: commandline.Between(0, 1_000_000, "--replicas", "want 0 or more")},
			&cli.Float64Flag{Name: "level", Destination: &o.Level, Value: usual.Level, Usage: "`PROBABILITY` that an interval contains the true number", Action: commandline.Between(0, 1.0, "--level", "want a probability between 0 and 1")},
			&cli.Uint64Flag{Name: "seed", Destination: &o.Seed, Usage: "`SEED` of resamples"},
			&cli.StringFlag{Name: "train-shares", Destination: &o.TrainShares, Value: sharesOfSource, Usage: "class shares for which the classifier's own probabilities are correct: source, uniform (a balanced loss), or a .csv `FILE` with the columns class and share"},
		)...),
		Action: func(c *cli.Context) error {
			if c.Args().Len() > 2 {
				return commandline.WrongUsage("%q is one too many: a SOURCE and a TARGET", c.Args().Get(2))
			}
			o.Source, o.Target = c.Args().Get(0), c.Args().Get(1)
			if err := o.check(); err != nil {
				return err
			}
			return o.carryOut()
		},
	}
}

// formatFlag is --format, which by default is what -o says.
func formatFlag(to *string) cli.Flag {
	flag := commandline.Format(to, sheet.Formats()...)
	flag.Value, flag.DefaultText = "", "that of -o, or "+sheet.Markdown
	return flag
}

// Kind is --kind, which sets to to what the values of files of predictions are.
func Kind(to *table.Kind) cli.Flag {
	words := []string{table.Probabilities.String(), table.Logits.String()}
	return &commandline.Choice{Words: words, StringFlag: &cli.StringFlag{
		Name: "kind", Usage: "`KIND` of the values, if their name does not say so: probabilities or logits",
		Action: func(_ *cli.Context, kind string) error {
			*to = []table.Kind{table.Probabilities, table.Logits}[slices.Index(words, kind)]
			return nil
		},
	}}
}

// check returns the first of what is wrong with the options.
func (o *options) check() error {
	if err := cmp.Or(o.checkMode(), o.Check(), o.checkFiles()); err != nil {
		return commandline.WrongUsage("%v", err)
	}
	return nil
}

// checkMode returns an error for flags that do not go together.
func (o options) checkMode() error {
	files := o.Source != "" || o.Target != ""
	for _, wrong := range []struct {
		is  bool
		why string
	}{
		{o.Run != "" && (files || o.Kind != 0 || o.Labels != ""), "--run takes the rows of a run; SOURCE, TARGET, --kind and --labels are for files"},
		{o.Group != "" && o.Run != "", "--group-column is for the rows of files; a run has those of its configuration"},
		{o.Run != "" && o.Corrected != "", "--corrected is for files; iwrun predict writes a run's corrected predictions"},
		{o.Run == "" && (o.Source == "" || o.Target == ""), "SOURCE and TARGET are needed, or --run FOLDER"},
	} {
		if wrong.is {
			return errors.New(wrong.why)
		}
	}
	return nil
}

// checkFiles returns an error for an ending that files cannot have, and if a file
// would be written over one that is read.
func (o *options) checkFiles() (err error) {
	if o.Corrected != "" {
		if err := table.CheckTable(o.Corrected); err != nil {
			return fmt.Errorf("--corrected %w", err)
		}
	}
	read := []string{o.Source, o.Target, o.Labels, o.TrainShares}
	if o.Run != "" {
		files, _ := filepath.Glob(filepath.Join(o.Run, "*"))
		read = append(read, files...)
	}
	if err := names.CheckApart([]string{o.Corrected, o.Output}, read); err != nil {
		return err
	}
	if o.Output != "" {
		if o.Format, err = commandline.Ending("-o", o.Output, o.Format, sheet.Formats()...); err != nil {
			return fmt.Errorf("%w; --format says the format of other names", err)
		}
	}
	return nil
}

// carryOut does what the options say.
func (o options) carryOut() error {
	source, target, err := o.read()
	if err != nil {
		return input.Wrong(err)
	}
	defer keepHeapSmall(source.Rows()+target.Rows(), len(source.Classes))()
	if o.Settings.TrainShares, err = o.trainShares(source.Classes); err != nil {
		return input.Wrong(err)
	}
	analysis, err := labelshift.Analyse(source, target, o.Settings)
	if err != nil {
		return err
	}
	if err := o.write(analysis); err != nil || !o.Fail {
		return err
	}
	return trust.Check(analysis.Answers)
}

// files says how the files of both domains are read.
func (o options) files() table.Options {
	return table.Options{Kind: o.Kind, Roles: table.Roles{Label: o.Labels, Group: o.Group, Decimal: o.Decimal}}
}

// read reads the predictions of both domains.
func (o options) read() (source, target *labelshift.Predictions, err error) {
	if o.Run != "" {
		return labelshift.ReadRun(o.Run)
	}
	if source, err = labelshift.ReadSource(o.Source, o.files()); err != nil {
		return nil, nil, err
	}
	target, err = labelshift.ReadTarget(o.Target, o.files(), source)
	return source, target, err
}

// keepHeapSmall makes Go collect garbage often where there are many rows of k values, or many values, and returns
// what ends that. Then nearly all memory is large arrays without pointers, which cost the
// collector nothing: of rows in float32, in float64, and once or twice in another order, and of k×k sums.
func keepHeapSmall(rows, k int) (end func()) {
	const many, manyValues, percent, bytes, ofClasses = 200_000, 20_000_000, 20, 4 + 3*8, 6 * 8
	if rows < many && rows*k < manyValues {
		return func() {}
	}
	before, limit := debug.SetGCPercent(percent), debug.SetMemoryLimit(int64(bytes*rows*k+ofClasses*k*k))
	return func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(limit)
	}
}

// trainShares returns what --train-shares says, nil for the source's.
func (o options) trainShares(classes []string) ([]float64, error) {
	switch o.TrainShares {
	case sharesOfSource:
		return nil, nil
	case uniformShares:
		return slices.Repeat([]float64{1 / float64(len(classes))}, len(classes)), nil
	}
	return table.ReadShares(o.TrainShares, classes)
}

// write writes the table, and then the file that was asked for.
func (o options) write(a *labelshift.Analysis) error {
	if err := o.writeTable(a.Sheet()); err != nil || o.Corrected == "" {
		return err
	}
	if err := a.WriteCorrected(o.Corrected); err != nil {
		return err
	}
	fmt.Fprintf(o.err, "%s: corrected predictions of %s\n", o.Corrected, printable.Count(a.TargetRows, "row"))
	return nil
}

func (o options) writeTable(found sheet.Sheet) error {
	if o.Output == "" {
		return found.Write(o.out, cmp.Or(o.Format, sheet.Markdown))
	}
	return wholefile.Write(o.Output, func(w io.Writer) error { return found.Write(w, o.Format) })
}
