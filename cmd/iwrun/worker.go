package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/experiments/store"
	"iwda/experiments/train"
	"iwda/torch"
)

const (
	workerName     = "worker"
	supervisedFlag = "supervised"
)

// workerOptions say which runs a worker makes.
type workerOptions struct {
	Folders    []string // of the runs, each with its config.yaml
	Device     string
	Threads    int
	Supervised bool // end as soon as standard input does
	// Checkpoints says how often one is written.
	Checkpoints train.Interval
	// GroupTimeout is how long it waits for the others, where several make the run.
	GroupTimeout time.Duration
}

// newWorkerCommand is what package schedule starts; it can be started by hand too.
func newWorkerCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      workerName,
		Usage:     "make the run whose configuration lies in a folder, or several at once",
		UsageText: "iwrun worker [--device DEVICE] [--threads NUMBER] RUNFOLDER...",
		Hidden:    true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "device", Value: "auto"},
			&cli.IntFlag{Name: "threads", Value: 1},
			checkpointFlag(),
			groupTimeoutFlag(),
			&cli.BoolFlag{Name: supervisedFlag, Usage: "end at the end of standard input, which tells that the parent died"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return wrongUsage(c, "a worker makes a run: name its folder")
			}
			checkpoints, err := checkpointsOf(c)
			if err != nil {
				return err
			}
			return runWorker(workerOptions{
				Folders: c.Args().Slice(), Device: c.String("device"), Threads: c.Int("threads"),
				Checkpoints: checkpoints, Supervised: c.Bool(supervisedFlag), GroupTimeout: c.Duration(groupTimeoutName),
			}, s)
		},
	}
}

func runWorker(o workerOptions, s streams) error {
	if o.Supervised {
		go func() {
			io.Copy(io.Discard, s.in)
			os.Exit(schedule.StoppedStatus) // at once, even while C++ computes
		}()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer onSignals(cancel)()
	checkpoint, release := onCheckpointSignals(func() {})
	defer release()

	torch.TuneAllocator()
	saveMemory()
	runs := len(o.Folders)
	reporters, checkpoints, errs := schedule.NewReporters(s.out, runs), toEach(checkpoint, runs, ctx.Done()), make([]error, runs)
	var making sync.WaitGroup
	for i, folder := range o.Folders {
		log := s.err
		if runs > 1 {
			log = reporters[i].Log()
		}
		making.Go(func() {
			switch errs[i] = trainIn(ctx, folder, o, checkpoints[i], reporters[i], log); {
			case errs[i] == nil:
				reporters[i].Done()
			case !errors.Is(errs[i], context.Canceled):
				reporters[i].Failed(errs[i])
			}
		})
	}
	making.Wait()
	err := errors.Join(errs...)
	if errors.Is(err, context.Canceled) {
		return statusError(schedule.StoppedStatus)
	}
	return err
}

// toEach returns as many channels, each of which gets what comes from one, until ended is
// closed. What comes before the last was taken is as good as the last.
func toEach(wishes <-chan struct{}, number int, ended <-chan struct{}) []chan struct{} {
	channels := make([]chan struct{}, number)
	for i := range channels {
		channels[i] = make(chan struct{}, 1)
	}
	go func() {
		for {
			select {
			case <-wishes:
			case <-ended:
				return
			}
			for _, c := range channels {
				select {
				case c <- struct{}{}:
				default:
				}
			}
		}
	}()
	return channels
}

// trainIn makes the run of the folder.
func trainIn(ctx context.Context, folder string, o workerOptions, checkpoint <-chan struct{}, reporter *schedule.Reporter, log io.Writer) error {
	device, err := torch.ParseDevice(o.Device)
	if err != nil {
		return err
	}
	run, dir, err := open(folder)
	if err != nil {
		return err
	}
	if err := dir.Begin(); err != nil {
		return err
	}
	group, err := joinGroup(device, o.GroupTimeout)
	if err != nil {
		return err
	}
	_, err = train.Run(ctx, run.Config, dir, train.Options{
		Device: device, Threads: o.Threads, Log: log, Group: group,
		Progress:    reporter.Progress,
		Alive:       reporter.Alive,
		Checkpoints: o.Checkpoints, CheckpointNow: checkpoint,
	})
	return err
}

// saveMemory lets the collector run before garbage has grown to as much as the data,
// which stay; a step makes hardly any. GOGC has the last word.
func saveMemory() {
	const percent = 25
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// open reads the configuration of the run whose folder it is.
func open(folder string) (plan.Run, store.Dir, error) {
	path := filepath.Join(folder, store.ConfigFile)
	resolved, err := config.LoadRun(path)
	if err != nil {
		return plan.Run{}, store.Dir{}, err
	}
	run := plan.Of(resolved)
	whole, err := filepath.Abs(folder)
	if err != nil {
		return plan.Run{}, store.Dir{}, err
	}
	end := run.Dir(string(filepath.Separator)).String()
	root, ok := strings.CutSuffix(whole, end)
	if !ok {
		return plan.Run{}, store.Dir{}, fmt.Errorf("%s: the folder of this run must end in %s", path, end)
	}
	return run, run.Dir(root), nil
}
