package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
)

// faultOptions say what happens when something goes wrong.
type faultOptions struct {
	Checkpoints string // interval between two of them, for the workers
	Retries     int
	Stall       time.Duration
	Overwrite   bool
	// GroupTimeout is how long processes that make one run together wait for each other.
	GroupTimeout time.Duration
}

func faultFlags() []cli.Flag {
	return []cli.Flag{
		checkpointFlag(),
		&cli.IntFlag{Name: "retries", Value: 1, Usage: "`NUMBER` of times that a run is started again whose worker died without saying why; it goes on from its checkpoint"},
		&cli.DurationFlag{Name: "stall", Value: 30 * time.Minute, Usage: "`DURATION` without a sign of life after which a worker is ended; 0: never"},
		&cli.BoolFlag{Name: "overwrite", Usage: "begin runs anew in whose folder another configuration left a result or a checkpoint, which is removed"},
		groupTimeoutFlag(),
	}
}

func faultOptionsOf(c *cli.Context) faultOptions {
	return faultOptions{
		Checkpoints: c.String(checkpointName), Retries: c.Int("retries"),
		Stall: c.Duration("stall"), Overwrite: c.Bool("overwrite"), GroupTimeout: c.Duration(groupTimeoutName),
	}
}

const groupTimeoutName = "group-timeout"

func groupTimeoutFlag() cli.Flag {
	return &cli.DurationFlag{Name: groupTimeoutName, Value: time.Minute, Usage: "`DURATION` that one of several processes that make a run together waits for the others before it fails"}
}

// shortestStall is more than a worker needs between two signs of life.
const shortestStall = time.Second

func (o faultOptions) check() error {
	usage := "iwrun --retries NUMBER --stall DURATION --" + checkpointName + " INTERVAL …"
	if o.Retries < 0 {
		return usageError(fmt.Sprintf("--retries %d: want 0 or more", o.Retries), usage)
	}
	if o.Stall != 0 && o.Stall < shortestStall {
		return usageError(fmt.Sprintf("--stall %v: want %v or more, or 0 for never", o.Stall, shortestStall), usage)
	}
	if o.GroupTimeout < time.Second {
		return usageError(fmt.Sprintf("--%s %v: want a second or more", groupTimeoutName, o.GroupTimeout), usage)
	}
	if _, err := parseCheckpoints(o.Checkpoints); err != nil {
		return usageError(err.Error(), usage)
	}
	return nil
}

// apply puts the options into those of the schedule.
func (o faultOptions) apply(options *schedule.Options) {
	options.Command = append(options.Command, "--"+checkpointName, o.Checkpoints, "--"+groupTimeoutName, o.GroupTimeout.String())
	options.Retries, options.Stall, options.Overwrite = o.Retries, o.Stall, o.Overwrite
}

// checkResults returns an error if the folder of results cannot be written although a
// run is not finished yet.
func checkResults(runs []plan.Run, results string) error {
	for _, run := range runs {
		if _, finished, err := run.Dir(results).Finished(run.Config.Hash()); err == nil && finished {
			continue
		}
		if err := tryWriting(results); err != nil {
			return config.Error{Location: "--results " + results, Message: "nothing can be written there: " + err.Error()}
		}
		return nil
	}
	return nil
}

// tryWriting makes and removes a file in a folder, which is created if need be.
func tryWriting(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".try-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
