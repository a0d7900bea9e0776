package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"iwda/experiments/cluster"
	"iwda/experiments/plan"
	"iwda/experiments/status"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/printable"
)

// slurmOptions say which runs Slurm makes, on what.
type slurmOptions struct {
	experimentOptions
	workOptions
	selection
	CPUs   int
	AtOnce int // tasks; 0: no limit
	Submit bool
	Sbatch []string // other options of all jobs
}

// slurmFlags are those that sbatch has too: they are handed on under their names.
var slurmFlags = []struct {
	name, usage string
}{
	{"time", "time limit of a task, `[DAYS-]HOURS:MINUTES:SECONDS`, above three minutes; a run that needs longer goes on in the next one"},
	{"gres", "generic resources of a task, as in `gpu:1`"},
	{"mem", "memory of a task, as in `16G`"},
}

func newSlurmCommand(s streams) *cli.Command {
	var o slurmOptions
	flags := append(o.experimentFlags(),
		&cli.IntFlag{Name: "cpus", Destination: &o.CPUs, Value: 1, Usage: "`NUMBER` of cores of a task, and of threads of its run", Action: commandline.Between(1, mostAtOnce, "--cpus", "a task needs at least one core")},
		&cli.IntFlag{Name: "at-once", Destination: &o.AtOnce, DefaultText: "no limit", Usage: "`NUMBER` of tasks at a time", Action: commandline.Between(0, mostTasks, "--at-once", "at least one task at a time")},
	)
	flags = slices.Concat(flags, o.faultFlags(), o.selectionFlags())
	for _, f := range slurmFlags {
		flags = append(flags, &cli.StringFlag{Name: f.name, Usage: f.usage})
	}
	flags = append(flags,
		commandline.Strings(&o.Sbatch, "sbatch", "any other option of sbatch, `--NAME=VALUE`, for all jobs, as in --partition=gpu; may be repeated"),
		&cli.BoolFlag{Name: "submit", Destination: &o.Submit, Usage: "submit the jobs and print their numbers"},
	)
	return &cli.Command{
		Name:      "slurm",
		Usage:     "write job scripts that make the runs on a cluster with Slurm",
		UsageText: "iwrun slurm -c FILE [FLAGS]",
		Description: `The scripts go into the folder slurm of the experiment's results. The command prints the path of the script that
submits the others. Each run is a task of an array. Before its time limit a task writes a checkpoint and queues itself again.

Examples:
  iwrun slurm -c configs/digits.yaml --time 2:00:00
  iwrun slurm -c digits.yaml --gres gpu:1 --sbatch --partition=gpu --submit`,
		Flags: flags,
		Action: withoutArguments(func(c *cli.Context) error {
			job, err := o.job(c)
			if err != nil {
				return err
			}
			return runSlurm(c, o, job, s)
		}),
	}
}

// tableTime is the time limit of the last job.
const tableTime = "--time=0:30:00"

// job returns what the options say of the jobs.
func (o slurmOptions) job(c *cli.Context) (cluster.Slurm, error) {
	own := []string{"--cpus-per-task=" + strconv.Itoa(o.CPUs)}
	for _, f := range slurmFlags {
		if value := c.String(f.name); value != "" {
			own = append(own, "--"+f.name+"="+value)
		}
	}
	job := cluster.Slurm{
		Options: append(own, o.Sbatch...), TableOptions: append(slices.Clone(o.Sbatch), tableTime),
		AtOnce: o.AtOnce,
	}
	if err := job.CheckOptions(); err != nil {
		return cluster.Slurm{}, commandline.WrongUsage("%v", err)
	}
	return job, nil
}

func runSlurm(c *cli.Context, o slurmOptions, job cluster.Slurm, s streams) error {
	file, runs, err := o.loadRuns()
	if err != nil {
		return err
	}
	if err := plan.CheckData(runs); err != nil {
		fmt.Fprintf(s.err, "warning: on this machine the data are missing; the tasks need them at the same place\n%v\n", err)
	}
	if runs, err = o.choose(runs); err != nil {
		return err
	}
	states := status.Inspect(runs, o.Results)
	indices, err := status.Unfinished(states, o.Schedule.Overwrite)
	if err != nil {
		return err
	}
	if counts := status.Count(states); len(indices) < len(states) {
		fmt.Fprintf(s.err, "left out: %d finished, %d running\n", counts[status.Finished], counts[status.Running])
	}
	if len(indices) == 0 {
		return nil
	}
	job.Name, job.Set, job.Indices = file.Config.Experiment, o.Set, indices
	if job.Config, err = input.Read(o.Configs[0], input.Text); err != nil {
		return err
	}
	for _, flag := range o.faultFlags() {
		if name := flag.Names()[0]; c.IsSet(name) {
			job.Arguments = append(job.Arguments, fmt.Sprintf("--%s=%v", name, c.Value(name)))
		}
	}
	if err := job.Here(o.Results); err != nil {
		return err
	}
	script, err := job.Write()
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "%s; to submit them: %s\n", printable.Count(len(indices), "run"), script)
	if !o.Submit {
		fmt.Fprintln(s.out, script)
		return nil
	}
	command := exec.Command("bash", "--", script)
	command.Stdout, command.Stderr = s.out, s.err
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	return nil
}
