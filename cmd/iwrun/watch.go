package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt"
	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labelshift"
	"iwda/adaptation/labelshift/command"
	"iwda/adaptation/predict"
	"iwda/adaptation/watch"
	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/experiments/report/sheet"
	"iwda/internal/commandline"
	"iwda/internal/input"
)

// statusAlarm is the exit status if an alarm has sounded.
const statusAlarm = statusError(3)

// watchOptions say what is watched.
type watchOptions struct {
	workOptions
	State, Batch, Log, Metrics, Page string
	Forget                           int
	Alarms                           []string
	Level                            float64
	Kind                             table.Kind
	Labels, TimeColumn, GroupColumn  string
	Compare                          bool
	Trust                            model.Trust
}

func newWatchCommand(s streams) *cli.Command {
	var o watchOptions
	return &cli.Command{
		Name:  "watch",
		Usage: "watch class shares and accuracy in batches without labels, night after night, with alarms that hold at every look",
		UsageText: "iwrun watch HELDOUT BATCH… --state FILE [FLAGS]\n" +
			"iwrun watch FOLDER BATCH… --state FILE [FLAGS]\n" +
			"iwrun watch --compare STATE STATE",
		Description: `HELDOUT has a classifier's probabilities or logits on held-out rows with labels, each BATCH on new rows without.
With the FOLDER of iwrun adapt or of a finished run, batches are rows, which pass through its model. A BATCH may also
be the state of another watcher. What was counted is not counted again. docs/howto/watch.md explains it.

Alarms: 'share(CLASS) > 0.05', 'share(CLASS) < 0.05', 'accuracy < 0.85', 'shares changed', 'shares changed after 14'
(than in the first 14 batches), 'more changed', which is always there. They stand with the state's first batch.
If nothing is wrong, the probability that any of them ever sounds is at most --level. The exit status is 3 once one has.

Examples:
  iwrun watch held-out.csv new.csv --state w.json --alarm 'share(sick) > 0.05'
  iwrun watch adapt-out new.csv --state w.json --metrics w.prom --page w.html
  iwrun watch --compare site-a.json site-b.json`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "state", Destination: &o.State, Usage: "`FILE` with what has been counted; a new one is made if it is missing"},
			commandline.Strings(&o.Alarms, "alarm", "`CONDITION` that sounds an alarm; may be repeated"),
			&cli.Float64Flag{Name: "level", Destination: &o.Level, DefaultText: "0.05", Usage: "`PROBABILITY` that any alarm ever sounds if nothing is wrong",
				Action: commandline.Between(math.SmallestNonzeroFloat64, 0.5, "--level", "it must be above 0")},
			&cli.StringFlag{Name: "batch", Destination: &o.Batch, DefaultText: "that of its file", Usage: "`NAME` of a single BATCH"},
			&cli.StringFlag{Name: "log", Destination: &o.Log, Usage: "write a line of JSON for each batch into `FILE`"},
			&cli.StringFlag{Name: "metrics", Destination: &o.Metrics, Usage: "write the last batch's numbers into `FILE` in Prometheus's text format"},
			&cli.StringFlag{Name: "page", Destination: &o.Page, Usage: "write a page over time into `FILE`, .html"},
			&cli.IntFlag{Name: "forget", Destination: &o.Forget, DefaultText: "none", Usage: "what is shown of all batches so far forgets those before the last `N`", Action: commandline.Between(1, 1<<20, "--forget", "one batch or more is remembered")},
			&cli.StringFlag{Name: "time-column", Destination: &o.TimeColumn, DefaultText: "the time of its file", Usage: "`NAME` of the column with times; the latest is the batch's"},
			&cli.StringFlag{Name: "group-column", Destination: &o.GroupColumn, Usage: "`NAME` of the column that says which rows belong together, such as those of one patient: one row of each group counts"},
			&cli.BoolFlag{Name: "compare", Destination: &o.Compare, Usage: "compare the class shares of two states"},
		}, commandline.Advanced(append(trustFlags(&o.Trust),
			command.Kind(&o.Kind),
			&cli.StringFlag{Name: "labels", Destination: &o.Labels, Usage: "`NAME` of HELDOUT's array or column of labels"},
		)...), o.deviceFlags()),
		Action: func(c *cli.Context) error {
			arguments := c.Args().Slice()
			if o.Compare {
				if len(arguments) != 2 || o.State != "" {
					return commandline.WrongUsage("--compare: name two states")
				}
				return o.compare(arguments[0], arguments[1], s)
			}
			if len(arguments) < 1 || o.State == "" {
				return commandline.WrongUsage("name held-out rows, batches, and the state with --state FILE")
			}
			if o.Batch != "" && len(arguments) != 2 {
				return commandline.WrongUsage("--batch names a single batch, and here are %d", len(arguments)-1)
			}
			written := []string{o.State, o.State + ".lock", o.Log, o.Metrics, o.Page}
			if err := names.CheckApart(written, arguments); err != nil {
				return commandline.WrongUsage("%v", err)
			}
			if o.Page != "" {
				if _, err := commandline.Ending("--page", o.Page, "", "html"); err != nil {
					return commandline.WrongUsage("%v", err)
				}
			}
			return o.watch(arguments[0], arguments[1:], s)
		},
	}
}

// watched is what batches are compared with, and how the rows of one are read.
type watched struct {
	reference *watch.Reference
	rows      func(ctx context.Context, path string) watch.Rows
}

// open reads the reference.
func (o watchOptions) open(path string, s streams) (watched, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return o.openFolder(path, s)
	}
	files := table.Options{Kind: o.Kind, Roles: table.Roles{Label: o.Labels, Group: o.GroupColumn}}
	source, err := labelshift.ReadSource(path, files) // which needs no time
	if err != nil {
		return watched{}, input.Wrong(err)
	}
	probabilities, err := source.Probabilities()
	if err != nil {
		return watched{}, input.Wrong(err)
	}
	files.ID = o.TimeColumn
	reference, err := watch.NewReference(path, source.Classes, probabilities, source.Labels(), source.Groups())
	return watched{reference, func(_ context.Context, path string) watch.Rows {
		return func(take func(time, group string, probabilities []float64) error) error {
			return input.Wrong(labelshift.EachTarget(path, files, source, take))
		}
	}}, input.Wrong(err)
}

// openFolder reads the held-out rows of a run, and the model that batches pass through. Of runs that predict together it
// is the first, as held-out rows of one are others' training rows.
func (o watchOptions) openFolder(folder string, s streams) (watched, error) {
	if o.GroupColumn != "" {
		return watched{}, commandline.WrongUsage("--group-column: the held-out rows of %s have no groups; name a file of held-out probabilities with the column, and batches of probabilities", folder)
	}
	run := folder
	if used, err := adapt.FirstUsed(folder); err == nil {
		run = used
	}
	source, _, err := labelshift.ReadRun(run)
	if err != nil {
		return watched{}, input.Wrong(err)
	}
	probabilities, err := source.Probabilities()
	if err != nil {
		return watched{}, err
	}
	reference, err := watch.NewReference(folder, source.Classes, probabilities, source.Labels(), nil)
	if err != nil {
		return watched{}, input.Wrong(err)
	}
	members, err := o.Trust.OpenMembers([]string{run})
	if err != nil {
		return watched{}, input.Wrong(err)
	}
	members[0].Calibration = nil // it was fitted to the held-out rows, and bins need none
	ensemble := predict.NewEnsemble(members, predict.Options{Torch: s.torch, Device: o.Device, Threads: o.Schedule.Threads})
	return watched{reference, func(ctx context.Context, path string) watch.Rows {
		return func(take func(time, group string, probabilities []float64) error) (err error) {
			rows, err := predict.Open(path, table.Roles{ID: o.TimeColumn}, folder, members[0].Metadata)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, rows.Close()) }()
			wide := make([]float64, len(members[0].Classes))
			return ensemble.Each(ctx, []predict.Input{rows}, [][]float64{nil}, func(id string, probabilities []float32) error {
				for class, p := range probabilities {
					wide[class] = float64(p)
				}
				return take(id, "", wide)
			})
		}
	}}, nil
}

func (o watchOptions) watch(heldOut string, batches []string, s streams) (err error) {
	ctx, stop := commandline.Interruptible()
	defer stop()
	against, err := o.open(heldOut, s)
	if err != nil {
		return err
	}
	release, err := watch.Lock(ctx, nil, o.State)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	state, err := watch.Open(o.State, against.reference, o.Alarms, o.Level)
	if err != nil {
		return err
	}
	before := len(state.Batches)
	for _, path := range batches {
		if err := o.count(ctx, state, against, path, s); err != nil {
			return err
		}
	}
	if len(state.Batches) == 0 {
		return nil
	}
	return o.show(state, before, s)
}

// count adds a batch, or another state's, and writes the state.
func (o watchOptions) count(ctx context.Context, state *watch.State, against watched, path string, s streams) error {
	if watch.IsState(path) {
		other, err := watch.ReadState(path)
		if err != nil {
			return err
		}
		added, err := state.Merge(path, other)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "%s: %d of %d batches are new\n", path, added, len(other.Batches))
		return state.Write(nil, o.State)
	}
	from := watch.Source{Name: o.Batch, TimeColumn: o.TimeColumn, Rows: against.rows(ctx, path)}
	if from.Name == "" {
		from.Name = filepath.Base(filepath.Clean(path))
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	from.Time = info.ModTime().Truncate(time.Second)
	already, err := state.Add(from)
	if err != nil {
		return err
	}
	if already != nil {
		fmt.Fprintf(s.err, "%s was counted already, as the batch %q\n", path, already.Name)
		return nil
	}
	return state.Write(nil, o.State)
}

// show says what is known of the batches from first on, and writes what else was asked for.
func (o watchOptions) show(state *watch.State, first int, s streams) error {
	from := 0
	if o.Log == "" && o.Page == "" {
		from = min(first, len(state.Batches)-1)
	}
	findings, err := state.Findings(o.Forget, from)
	if err != nil {
		return err
	}
	last := findings[len(findings)-1]
	for _, f := range findings[min(first, len(state.Batches)-1)-from:] { // the last one again, if none is new
		fmt.Fprintln(s.out, state.Line(f))
	}
	for _, file := range []struct {
		path  string
		write func(path string) error
	}{
		{o.Log, func(path string) error { return watch.WriteLog(path, findings) }},
		{o.Metrics, func(path string) error { return state.WriteMetrics(path, last) }},
		{o.Page, func(path string) error { return state.WritePage(path, findings, o.Forget) }},
	} {
		if file.path != "" {
			if err := file.write(file.path); err != nil {
				return err
			}
		}
	}
	if last.Sounds() {
		return statusAlarm
	}
	return nil
}

// compare prints the differences of two states' class shares.
func (o watchOptions) compare(a, b string, s streams) error {
	var states []*watch.State
	for _, path := range []string{a, b} {
		state, err := watch.ReadState(path)
		if err != nil {
			return err
		}
		states = append(states, state)
	}
	level := 0.95
	if o.Level != 0 {
		level = 1 - o.Level
	}
	compared, err := watch.Compare(a, b, states[0], states[1], level)
	if err != nil {
		return input.Wrong(err)
	}
	return compared.Write(s.out, sheet.Markdown)
}
