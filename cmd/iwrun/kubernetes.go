package main

import (
	"github.com/urfave/cli/v2"

	"iwda/experiments/cluster"
)

// kubernetesOptions say what the tasks on Kubernetes are made of.
type kubernetesOptions struct {
	experimentOptions
	taskOptions
	Image, Claim, DataClaim string
	Memory                  string
	GPU                     bool
	Namespace               string
}

// usualParallelism is the number of tasks at a time where none is given: Kubernetes
// would take one.
const usualParallelism = 8

func newKubernetesCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "kubernetes",
		Usage:     "print a manifest of a Job that makes all runs on a cluster with Kubernetes",
		UsageText: "iwrun kubernetes -c FILE --image IMAGE --claim CLAIM [--set KEY=VALUE]... [--gpu] [--cpus NUMBER] [--memory 8Gi] [--at-once NUMBER] | kubectl apply -f -",
		Description: "The tasks work in the root of a persistent volume claim, which many nodes must be able to write: results go to the folder of -o there, " +
			"data lie in its folder data. A task whose run is finished ends at once.",
		Flags: append(append(experimentFlags(), taskFlags()...),
			&cli.StringFlag{Name: "image", Usage: "container `IMAGE` with iwrun on its path"},
			&cli.StringFlag{Name: "claim", Usage: "persistent volume `CLAIM` for results and data"},
			&cli.StringFlag{Name: "data-claim", Usage: "persistent volume `CLAIM` that is the folder data instead, only read"},
			&cli.StringFlag{Name: "memory", Usage: "memory of a task, a `QUANTITY` as in 8Gi"},
			&cli.BoolFlag{Name: "gpu", Usage: "a GPU for every task"},
			&cli.StringFlag{Name: "namespace", Usage: "`NAMESPACE` of the objects"},
		),
		Action: func(c *cli.Context) error {
			o, err := kubernetesOptionsOf(c)
			if err != nil {
				return err
			}
			return withoutArguments(c, func() error { return runKubernetes(c, o, s) })
		},
	}
}

func kubernetesOptionsOf(c *cli.Context) (kubernetesOptions, error) {
	task, err := taskOptionsOf(c)
	if err != nil {
		return kubernetesOptions{}, err
	}
	if task.AtOnce == 0 {
		task.AtOnce = usualParallelism
	}
	return kubernetesOptions{
		experimentOptions: experimentOptionsOf(c), taskOptions: task,
		Image: c.String("image"), Claim: c.String("claim"), DataClaim: c.String("data-claim"),
		Memory: c.String("memory"), GPU: c.Bool("gpu"), Namespace: c.String("namespace"),
	}, nil
}

func runKubernetes(c *cli.Context, o kubernetesOptions, s streams) error {
	file, runs, err := o.loadRuns()
	if err != nil {
		return err
	}
	described, err := o.clusterExperiment(file.Config.Experiment, nil, o.Arguments)
	if err != nil {
		return err
	}
	manifest, err := cluster.Kubernetes{
		Experiment: described, Runs: len(runs), Image: o.Image, Claim: o.Claim, DataClaim: o.DataClaim, Results: o.Results,
		AtOnce: o.AtOnce, CPUs: o.CPUs, Memory: o.Memory, GPU: o.GPU, Namespace: o.Namespace,
	}.Manifest()
	if err != nil {
		return wrongUsage(c, "%v", err)
	}
	_, err = s.out.Write(manifest)
	return err
}
