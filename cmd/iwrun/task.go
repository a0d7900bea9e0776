package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"iwda/experiments/cluster"
)

// taskOptions are those of a task on any cluster.
type taskOptions struct {
	faultOptions
	CPUs      int
	AtOnce    int      // tasks; 0: no limit
	Arguments []string // the fault options that were given, for iwrun
}

func taskFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.IntFlag{Name: "cpus", Value: 1, Usage: "`NUMBER` of cores of a task, and of threads of its run"},
		&cli.IntFlag{Name: "at-once", DefaultText: "no limit", Usage: "`NUMBER` of tasks at a time"},
	}, faultFlags()...)
}

func taskOptionsOf(c *cli.Context) (taskOptions, error) {
	o := taskOptions{faultOptions: faultOptionsOf(c), CPUs: c.Int("cpus"), AtOnce: c.Int("at-once")}
	switch {
	case o.CPUs < 1:
		return o, wrongUsage(c, "--cpus %d: a task needs at least one core", o.CPUs)
	case o.AtOnce < 0:
		return o, wrongUsage(c, "--at-once %d: at least one task at a time", o.AtOnce)
	}
	for _, flag := range faultFlags() {
		if name := flag.Names()[0]; c.IsSet(name) {
			o.Arguments = append(o.Arguments, fmt.Sprintf("--%s=%v", name, c.Value(name)))
		}
	}
	return o, o.faultOptions.check()
}

// clusterExperiment describes the experiment to a cluster; indices are those of the runs
// to be made.
func (o experimentOptions) clusterExperiment(name string, indices []int, arguments []string) (cluster.Experiment, error) {
	text, err := os.ReadFile(o.Configs[0])
	if err != nil {
		return cluster.Experiment{}, err
	}
	return cluster.Experiment{Name: name, Config: text, Set: o.Set, Indices: indices, Arguments: arguments}, nil
}
