package main

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"iwda/experiments/cluster"
	"iwda/internal/commandline"
	"iwda/internal/input"
)

// taskOptions are those of an experiment whose runs are tasks of any cluster.
type taskOptions struct {
	experimentOptions
	workOptions
	CPUs   int
	AtOnce int // tasks; 0: no limit
}

// taskFlags are the flags of a cluster that makes so many tasks at a time unless told otherwise, 0
// for no limit.
func (o *taskOptions) taskFlags(atOnce int) []cli.Flag {
	usual := strconv.Itoa(atOnce)
	if atOnce == 0 {
		usual = "no limit"
	}
	return append(append(o.experimentFlags(),
		&cli.IntFlag{Name: "cpus", Destination: &o.CPUs, Value: 1, Usage: "`NUMBER` of cores of a task, and of threads of its run", Action: commandline.Between(1, mostAtOnce, "--cpus", "a task needs at least one core")},
		&cli.IntFlag{Name: "at-once", Destination: &o.AtOnce, Value: atOnce, DefaultText: usual, Usage: "`NUMBER` of tasks at a time", Action: commandline.Between(min(1, atOnce), mostTasks, "--at-once", "at least one task at a time")},
	), o.faultFlags()...)
}

// experiment describes the experiment of that name to a cluster; what was said of faults is
// handed on.
func (o taskOptions) experiment(c *cli.Context, name string) (cluster.Experiment, error) {
	text, err := input.Read(o.Configs[0], input.Text)
	if err != nil {
		return cluster.Experiment{}, err
	}
	described := cluster.Experiment{Name: name, Config: text, Set: o.Set}
	for _, flag := range o.faultFlags() {
		if name := flag.Names()[0]; c.IsSet(name) {
			described.Arguments = append(described.Arguments, fmt.Sprintf("--%s=%v", name, c.Value(name)))
		}
	}
	return described, nil
}

// usualParallelism is the number of tasks at a time where none is given: Kubernetes
// itself would take one.
const usualParallelism = 8

func newKubernetesCommand(s streams) *cli.Command {
	var o taskOptions
	var job cluster.Kubernetes
	return &cli.Command{
		Name:      "kubernetes",
		Usage:     "print a manifest that makes the runs on Kubernetes",
		UsageText: "iwrun kubernetes -c FILE --image IMAGE --claim CLAIM [FLAGS]",
		Description: `The tasks work in the root of a persistent volume claim, to which many nodes must be able to write. Results go
to the folder of -o there, and data are in its folder data. If a task's run is finished, the task ends at once.

Examples:
  iwrun kubernetes -c configs/demo.yaml --image iwda --claim work >job.yaml
  iwrun kubernetes -c demo.yaml --image iwda --claim work | kubectl apply -f -`,
		Flags: append(o.taskFlags(usualParallelism),
			&cli.StringFlag{Name: "image", Destination: &job.Image, Usage: "container `IMAGE` with iwrun on its path"},
			&cli.StringFlag{Name: "claim", Destination: &job.Claim, Usage: "persistent volume `CLAIM` for results and data"},
			&cli.StringFlag{Name: "data-claim", Destination: &job.DataClaim, Usage: "persistent volume `CLAIM` with the data, instead of the folder data; it is only read"},
			&cli.StringFlag{Name: "memory", Destination: &job.Memory, Usage: "memory of a task, a `QUANTITY` as in 8Gi"},
			&cli.BoolFlag{Name: "gpu", Destination: &job.GPU, Usage: "a GPU for every task"},
			&cli.StringFlag{Name: "namespace", Destination: &job.Namespace, Usage: "`NAMESPACE` of the objects"},
		),
		Action: withoutArguments(func(c *cli.Context) error {
			file, runs, err := o.loadRuns()
			if err != nil {
				return err
			}
			if job.Experiment, err = o.experiment(c, file.Config.Experiment); err != nil {
				return err
			}
			job.Runs, job.Results, job.AtOnce, job.CPUs = len(runs), o.Results, o.AtOnce, o.CPUs
			manifest, err := job.Manifest()
			if err != nil {
				return wrongUsage("%v", err)
			}
			_, err = s.out.Write(manifest)
			return err
		}),
	}
}
