package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/engine"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/printable"
)

// experimentOptions name experiments and where their results are.
type experimentOptions struct {
	Configs []string // paths of experiment files; most commands take one
	Results string   // folder
	Set     []string // assignments path=value
}

func (o *experimentOptions) experimentFlags() []cli.Flag {
	return []cli.Flag{
		commandline.Strings(&o.Configs, "config", "experiment `FILE` (YAML)", "c"),
		&cli.StringFlag{Name: "results", Aliases: []string{"o"}, Destination: &o.Results, Value: "results", Usage: "`FOLDER` for the results of all experiments"},
		commandline.Strings(&o.Set, "set", "set a key of the file, `KEY=VALUE`, as in train.epochs=2 or 'methods=[iwdan]'; may be repeated"),
	}
}

// load reads the experiment file and makes the assignments.
func (o experimentOptions) load() (*config.File, error) {
	if len(o.Configs) > 1 {
		return nil, commandline.WrongUsage("-c: one experiment at a time; only table --kind average takes several")
	}
	files, err := o.loadAll()
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// loadRuns reads the experiment file as load does and returns its runs too.
func (o experimentOptions) loadRuns() (*config.File, []plan.Run, error) {
	file, err := o.load()
	if err != nil {
		return nil, nil, err
	}
	runs, err := plan.Runs(file)
	return file, runs, err
}

// find reads the experiment's results. A note says which settings are not those of its file.
func (o experimentOptions) find(file *config.File) (plan.Found, error) {
	found, err := plan.Find(file, o.Results)
	if changed := o.changed(file); changed != "" {
		found.Notes = append(found.Notes, changed)
	}
	return found, err
}

// changed says in a sentence which settings are not those of the file, "" if all are.
func (o experimentOptions) changed(file *config.File) string {
	if len(o.Set) == 0 {
		return ""
	}
	return fmt.Sprintf("Settings of %s replaced by %s.", file.Name, strings.Join(o.Set, ", "))
}

// loadAll reads the experiment files, of which there is at least one, and makes the
// assignments in each.
func (o experimentOptions) loadAll() ([]*config.File, error) {
	if len(o.Configs) == 0 {
		return nil, commandline.WrongUsage("which experiment? name its file with -c FILE")
	}
	var files []*config.File
	for _, path := range o.Configs {
		file, err := config.Load(path)
		var mistakes config.Errors
		switch {
		case errors.As(err, &mistakes):
			return nil, err
		case err != nil:
			return nil, input.Wrong(fmt.Errorf("-c: %w", err))
		}
		if err := file.Set(o.Set); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// selection names some runs of a plan.
type selection struct {
	Only  []string // globs of run ids; none: all
	Index int      // of one run of the plan, from 0; allRuns: all
}

// allRuns is the index that stands for no index.
const allRuns = -1

func (s *selection) selectionFlags() []cli.Flag {
	return commandline.Advanced(
		commandline.Strings(&s.Only, "only", "only runs whose ids match `GLOB`, as in 'subsampled/usps-mnist/*/seed-1'; may be repeated"),
		&cli.IntFlag{Name: "index", Destination: &s.Index, Value: allRuns, DefaultText: "all", Usage: "only the run with this `NUMBER` in the list of --dry-run, from 0", Action: commandline.Between(allRuns, mostTasks, "--index", "want 0 or more")},
	)
}

// choose returns the selected runs.
func (s selection) choose(runs []plan.Run) ([]plan.Run, error) {
	switch {
	case s.Index == allRuns:
		return plan.Only(runs, s.Only)
	case len(s.Only) > 0:
		return nil, commandline.WrongUsage("--index and --only: one of the two says which runs")
	case s.Index < 0 || s.Index >= len(runs):
		return nil, commandline.WrongUsage("--index %d: the experiment has %s, from 0 to %d", s.Index, printable.Count(len(runs), "run"), len(runs)-1)
	}
	return runs[s.Index : s.Index+1], nil
}

// workOptions say what of the machine runs use, and what happens when something goes wrong.
type workOptions struct {
	Schedule    schedule.Options
	Device      string        // one or several
	Checkpoints time.Duration // between two of them
}

func (o *workOptions) machineFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Destination: &o.Schedule.Jobs, Action: commandline.Between(0, mostAtOnce, "-j", "at least one run at a time"),
			DefaultText: "what suits the cores or GPUs", Usage: "`NUMBER` of runs at a time"},
		&cli.StringFlag{Name: "device", Destination: &o.Device, Value: "auto", Usage: "`DEVICE`: cpu; cuda:N; several that share the runs, as in cuda:0,cuda:1; or auto: all GPUs, or the CPU if there are none"},
	}, commandline.Advanced(
		threadsFlag(&o.Schedule.Threads, "`NUMBER` of threads of one run; with steps, its results are bit-identical only with the same number"),
	)...)
}

// deviceFlags are the machine's flags of a command that trains nothing.
func (o *workOptions) deviceFlags() []cli.Flag {
	return commandline.Advanced(
		&cli.StringFlag{Name: "device", Destination: &o.Device, Value: "auto", Usage: "`DEVICE`: cpu; cuda:N; or auto: a GPU, or the CPU if there is none"},
		threadsFlag(&o.Schedule.Threads, "`NUMBER` of threads"),
	)
}

func threadsFlag(to *int, usage string) cli.Flag {
	return &cli.IntFlag{Name: "threads", Destination: to, Value: 1, Usage: usage, Action: commandline.Between(1, mostAtOnce, "--threads", "a run needs at least one thread")}
}

func (o *workOptions) faultFlags() []cli.Flag {
	return commandline.Advanced(
		&cli.DurationFlag{Name: "checkpoint-every", Destination: &o.Checkpoints, Value: 5 * time.Minute, DefaultText: "5m", Action: commandline.Between(1, longest, "--checkpoint-every", "want a time above 0"),
			Usage: "`TIME` between two checkpoints of a run, as in 90s or 10m; one is also written when a run stops"},
		&cli.IntFlag{Name: "retries", Destination: &o.Schedule.Retries, Value: 1, Action: commandline.Between(0, mostRetries, "--retries", "want 0 or more"),
			Usage: "`NUMBER` of times that a run starts again, from its checkpoint, after its worker died without giving a reason"},
		&cli.BoolFlag{Name: "overwrite", Destination: &o.Schedule.Overwrite, Usage: "if another configuration left a result or a checkpoint in a run's folder, remove it and start the run again"},
	)
}

// Bounds of the numbers that flags take, beyond what a machine or an experiment could use.
const (
	mostRows    = 1_000_000
	mostSteps   = 1_000_000_000
	mostAtOnce  = 1024 // processes or threads of one machine
	mostTasks   = 100_000
	mostRetries = 1000
	longest     = 30 * 24 * time.Hour
)

// devices finds those that the option names, of which there is at least one, and has the runs share them. Unless any makes
// steps, there is nothing to find.
func (o *workOptions) devices(steps bool, s streams) error {
	if o.Device == "cpu" || o.Device == "auto" && (!steps || !hasDriver()) {
		o.Schedule.Devices = []string{"cpu"} // iwrun-torch would say so half a second later
		return nil
	}
	err := s.ask(engine.Devices, o.Device, &o.Schedule.Devices)
	switch {
	case errors.Is(err, engine.ErrMissing) && o.Device == "auto":
		o.Schedule.Devices = []string{"cpu"} // of what takes no libtorch; what does will say that it is missing
		return nil
	case errors.Is(err, input.ErrWrong):
		return commandline.WrongUsage("%v", err)
	}
	return err
}

// workOf is how a run with that configuration is made on a device.
func (o workOptions) workOf(run plan.Run, device string) (engine.Work, error) {
	yaml, err := run.Config.YAML()
	w := o.work(device)
	w.Config = string(yaml)
	return w, err
}

// work is how a run is made on a device.
func (o workOptions) work(device string) engine.Work {
	return engine.Work{Device: device, Threads: o.Schedule.Threads, Checkpoints: o.Checkpoints}
}

// ask asks iwrun-torch, until a signal to stop.
func (s streams) ask(question string, with, answer any) error {
	ctx, stop := commandline.Interruptible()
	defer stop()
	return s.torch.Ask(ctx, question, with, answer)
}
