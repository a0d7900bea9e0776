package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

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

// newWorkerCommand is what package schedule starts; it can be started by hand too.
func newWorkerCommand(s streams) *cli.Command {
	var o workOptions
	return &cli.Command{
		Name:      workerName,
		Usage:     "make the run whose configuration lies in a folder",
		UsageText: "iwrun worker RUNFOLDER [FLAGS]",
		Description: `Examples:
  iwrun worker results/digits/subsampled/usps-mnist/iwdan/seed-1`,
		Hidden: true,
		Flags: append(append(o.deviceFlags(), o.workerFlags()...),
			&cli.BoolFlag{Name: supervisedFlag, Usage: "end at the end of standard input, which tells that the parent died"},
		),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return wrongUsage("a worker makes one run: name its folder")
			}
			if c.Bool(supervisedFlag) {
				go func() {
					io.Copy(io.Discard, s.in)
					os.Exit(schedule.StoppedStatus) // at once, even while C++ computes
				}()
			}
			return runWorker(c.Args().First(), o, s)
		},
	}
}

// runWorker makes the run of the folder, which has its config.yaml.
func runWorker(folder string, o workOptions, s streams) error {
	ctx, stop := interruptible()
	defer stop()
	prepareMemory()
	checkpoint := make(chan os.Signal, 1) // what comes before the last was taken is as good as the last
	signal.Notify(checkpoint, syscall.SIGUSR1)
	defer signal.Stop(checkpoint)
	reporter := schedule.NewReporter(s.out)
	err := trainIn(ctx, folder, o, train.Options{Log: s.err, Progress: reporter.Progress, Alive: reporter.Alive, CheckpointNow: checkpoint})
	switch {
	case errors.Is(err, context.Canceled):
		return statusError(schedule.StoppedStatus)
	case err != nil:
		reporter.Failed(err)
	}
	return err
}

// trainIn makes the run of the folder.
func trainIn(ctx context.Context, folder string, o workOptions, options train.Options) (err error) {
	if options.Device, err = o.device(); err != nil {
		return err
	}
	run, dir, err := plan.Open(folder)
	if err != nil {
		return err
	}
	if err := dir.Begin(); err != nil {
		return err
	}
	return makeRun(ctx, run, dir, o, options)
}

// takePart makes the run as a process that is not the group's first one, which writes the
// files.
func takePart(run plan.Run, results string, device torch.Device, o workOptions, s streams) error {
	if _, finished := run.Finished(results); finished {
		return nil
	}
	prepareMemory()
	ctx, stop := interruptible()
	defer stop()
	if err := makeRun(ctx, run, run.Dir(results), o, train.Options{Device: device, Log: s.err}); err != nil {
		return fmt.Errorf("%s: %w", run.ID, err)
	}
	return nil
}

// makeRun makes the run, with the other processes of its group if there are any.
func makeRun(ctx context.Context, run plan.Run, dir store.Dir, o workOptions, options train.Options) (err error) {
	options.Threads = o.Schedule.Threads
	if options.Checkpoints, err = train.ParseInterval(o.Checkpoints); err != nil {
		return err
	}
	if options.Group, err = joinGroup(options.Device, o.Meeting, o.GroupTimeout); err != nil {
		return err
	}
	_, err = train.Run(ctx, run.Config, dir, options)
	return err
}

// joinGroup returns the group whose other processes do the same now, nil for one that is
// alone.
func joinGroup(device torch.Device, meeting, timeout time.Duration) (*torch.ProcessGroup, error) {
	o, _, grouped, err := torch.GroupFromEnvironment(os.LookupEnv)
	if err != nil || !grouped || o.Size == 1 {
		return nil, err
	}
	o.Device, o.Meeting, o.Timeout = device, meeting, timeout
	return torch.NewProcessGroup(o)
}

// prepareMemory has C++ and Go keep little that is not used. Go's collector runs before garbage
// has grown to as much as the data, which stay; a step makes hardly any. GOGC has the last word.
func prepareMemory() {
	const percent = 25
	torch.TuneAllocator()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
