package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"iwda/experiments/train"
)

const checkpointName = "checkpoint-every"

func checkpointFlag() cli.Flag {
	return &cli.StringFlag{
		Name: checkpointName, Value: "5m",
		Usage: "`INTERVAL` between two checkpoints of a run: a number of epochs, as in 2, or a time, as in 90s or 10m; one is written when a run stops too",
	}
}

// checkpointsOf reads the flag.
func checkpointsOf(c *cli.Context) (train.Interval, error) {
	interval, err := parseCheckpoints(c.String(checkpointName))
	if err != nil {
		return train.Interval{}, wrongUsage(c, "%v", err)
	}
	return interval, nil
}

func parseCheckpoints(text string) (train.Interval, error) {
	if epochs, err := strconv.Atoi(text); err == nil && epochs > 0 {
		return train.Interval{Epochs: epochs}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return train.Interval{Time: d}, nil
	}
	return train.Interval{}, fmt.Errorf("--%s %q: want a number of epochs, as in 2, or a time, as in 10m", checkpointName, text)
}

// onCheckpointSignals returns a channel on which each SIGUSR1 comes, until release is
// called, and calls noted for it. One that follows before the last was received says
// nothing new and is dropped.
func onCheckpointSignals(noted func()) (wishes <-chan struct{}, release func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	pending, released := make(chan struct{}, 1), make(chan struct{})
	go func() {
		for {
			select {
			case <-signals:
				select {
				case pending <- struct{}{}:
					noted()
				default:
				}
			case <-released:
				return
			}
		}
	}()
	return pending, func() {
		signal.Stop(signals)
		close(released)
	}
}
