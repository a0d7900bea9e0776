package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"iwda/experiments/cluster"
	"iwda/experiments/plan"
	"iwda/experiments/status"
	"iwda/internal/wholefile"
)

// slurmOptions say which runs Slurm makes, on what.
type slurmOptions struct {
	experimentOptions
	selection
	taskOptions
	Submit bool
	Nodes  int // that make a run together
	// Processes is the number of those that make a run together on each.
	Processes int
	Options   []cluster.Option // of every task
	Shared    []cluster.Option // of the tasks and of the last job
}

// slurmFlags are those that sbatch has too: they are handed on under their names.
var slurmFlags = []struct {
	name, usage string
	shared      bool // by the last job
}{
	{"time", "time limit of a task, `[DAYS-]HOURS:MINUTES:SECONDS`; a run that needs longer goes on in the next one", false},
	{"gres", "generic resources of a task, as in `gpu:1`", false},
	{"mem", "memory of a task, as in `16G`", false},
	{"partition", "`PARTITION` of the cluster", true},
	{"account", "`ACCOUNT` that pays", true},
}

func newSlurmCommand(s streams) *cli.Command {
	flags := append(append(experimentFlags(), selectionFlags()...), taskFlags()...)
	for _, f := range slurmFlags {
		flags = append(flags, &cli.StringFlag{Name: f.name, Usage: f.usage})
	}
	flags = append(flags,
		&cli.IntFlag{Name: "nodes", Value: 1, Usage: "`NUMBER` of machines that make a run together"},
		&cli.IntFlag{Name: "processes", DefaultText: "one a GPU of --gres, else 1", Usage: "`NUMBER` of processes that make a run together on each machine"},
		&cli.StringSliceFlag{Name: "sbatch", Usage: "any other option of sbatch, `--NAME=VALUE`, for all jobs; may be repeated"},
		&cli.BoolFlag{Name: "submit", Usage: "submit the jobs and print their numbers"},
	)
	return &cli.Command{
		Name:      "slurm",
		Usage:     "write job scripts that make the unfinished runs on a cluster with Slurm",
		UsageText: "iwrun slurm -c FILE [-o FOLDER] [--set KEY=VALUE]... [--only GLOB]... [--time H:M:S] [--gres gpu:1] [--nodes NUMBER] [--at-once NUMBER] [--submit]",
		Description: "Writes the scripts into the folder slurm of the experiment's results and prints the path of the one that submits the others. " +
			"Each run is a task of an array. Before its time limit a task writes a checkpoint and queues itself again.",
		Flags: flags,
		Action: func(c *cli.Context) error {
			o, err := slurmOptionsOf(c)
			if err != nil {
				return err
			}
			return withoutArguments(c, func() error { return runSlurm(o, s) })
		},
	}
}

func slurmOptionsOf(c *cli.Context) (slurmOptions, error) {
	task, err := taskOptionsOf(c)
	if err != nil {
		return slurmOptions{}, err
	}
	o := slurmOptions{
		experimentOptions: experimentOptionsOf(c), selection: selectionOf(c), taskOptions: task, Submit: c.Bool("submit"),
		Options: []cluster.Option{{Name: "cpus-per-task", Value: strconv.Itoa(task.CPUs)}},
		Nodes:   c.Int("nodes"), Processes: gpus(c.String("gres")),
	}
	if c.IsSet("processes") {
		o.Processes = c.Int("processes")
	}
	if o.Nodes < 1 || o.Processes < 1 {
		return o, wrongUsage(c, "--nodes %d, --processes %d: a run takes at least one process on one machine", o.Nodes, o.Processes)
	}
	var texts []string
	for _, f := range slurmFlags {
		if value := c.String(f.name); value != "" {
			option := cluster.Option{Name: f.name, Value: value}
			texts = append(texts, option.String())
			if f.shared {
				o.Shared = append(o.Shared, option)
			} else {
				o.Options = append(o.Options, option)
			}
		}
	}
	for _, text := range c.StringSlice("sbatch") {
		option, _ := cluster.ParseOption(text)
		texts = append(texts, text)
		o.Shared = append(o.Shared, option)
	}
	for _, text := range texts {
		if _, err := cluster.ParseOption(text); err != nil {
			return o, wrongUsage(c, "%v", err)
		}
	}
	return o, nil
}

var gpuResource = regexp.MustCompile(`(?:^|,)gpu(?::[A-Za-z][^:,]*)?:([1-9][0-9]*)(?:,|$)`)

// gpus returns the number of GPUs that generic resources of Slurm name, as in gpu:a100:8,
// and 1 where they name none.
func gpus(resources string) int {
	if match := gpuResource.FindStringSubmatch(resources); match != nil {
		if number, err := strconv.Atoi(match[1]); err == nil {
			return number
		}
	}
	return 1
}

// tableTime is the time limit of the last job.
var tableTime = cluster.Option{Name: "time", Value: "0:30:00"}

func runSlurm(o slurmOptions, s streams) error {
	file, runs, err := o.loadRuns()
	if err != nil {
		return err
	}
	if err := plan.CheckData(runs); err != nil {
		fmt.Fprintf(s.err, "warning: on this machine the data are missing; the tasks need them at the same place\n%v\n", err)
	}
	states, err := o.states(runs, o.Results)
	if err != nil {
		return err
	}
	indices, err := o.unfinished(states, s.err)
	if err != nil || len(indices) == 0 {
		return err
	}
	job, err := o.job(file.Config.Experiment, indices)
	if err != nil {
		return err
	}
	script, err := writeScripts(job)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "%d runs; to submit them: %s\n", len(indices), script)
	if !o.Submit {
		fmt.Fprintln(s.out, script)
		return nil
	}
	return submit(script, s)
}

// unfinished returns the indices of the runs to be made, and says which are not.
func (o slurmOptions) unfinished(states []status.Run, log io.Writer) ([]int, error) {
	counts := count(states)
	if n := counts[status.Other]; n > 0 && !o.Overwrite {
		first := states[slices.IndexFunc(states, func(run status.Run) bool { return run.State == status.Other })]
		return nil, fmt.Errorf("the folders of %d runs hold work of another configuration, the first is %s: %s\nchoose another folder with --results, "+
			"or begin these runs anew with --overwrite, which removes what is there; iwrun status lists them", n, first.ID, first.Reason)
	}
	var indices []int
	for _, run := range states {
		if run.State != status.Finished && run.State != status.Running {
			indices = append(indices, run.Index)
		}
	}
	if done, running := counts[status.Finished], counts[status.Running]; done+running > 0 {
		fmt.Fprintf(log, "left out: %d finished, %d running\n", done, running)
	}
	return indices, nil
}

// job describes the jobs that make the runs of those indices.
func (o slurmOptions) job(experiment string, indices []int) (cluster.Slurm, error) {
	described, err := o.clusterExperiment(experiment, indices, o.Arguments)
	if err != nil {
		return cluster.Slurm{}, err
	}
	program, programErr := thisProgram()
	directory, directoryErr := os.Getwd()
	results, resultsErr := filepath.Abs(o.Results)
	if err := errors.Join(programErr, directoryErr, resultsErr); err != nil {
		return cluster.Slurm{}, fmt.Errorf("cannot tell the tasks where to work: %w", err)
	}
	job := cluster.Slurm{
		Experiment: described,
		Program:    program, Directory: directory, Results: results, Environment: map[string]string{},
		Options: slices.Concat(o.Options, o.Shared), TableOptions: append(slices.Clone(o.Shared), tableTime),
		AtOnce: o.AtOnce, MaxArraySize: maxArraySize(), Nodes: o.Nodes, Processes: o.Processes,
	}
	for _, name := range job.Variables() {
		if value, set := os.LookupEnv(name); set {
			job.Environment[name] = value
		}
	}
	return job, nil
}

// thisProgram returns the path by which other machines start this program: in a folder of
// `make dist`, that of the launcher, which finds libtorch.
func thisProgram() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	return launcherOf(program), nil
}

// launcherOf returns the launcher beside the folder bin of a program, or the program
// where there is none.
func launcherOf(program string) string {
	folder, name := filepath.Split(program)
	launcher := filepath.Join(folder, "..", name)
	if info, err := os.Stat(launcher); err != nil || !info.Mode().IsRegular() || filepath.Base(folder) != "bin" {
		return program
	}
	return launcher
}

// writeScripts writes the files of the jobs in place of former ones and returns the path
// of the one that submits the others.
func writeScripts(job cluster.Slurm) (string, error) {
	folder := filepath.Join(job.Results, job.Name, "slurm")
	files, err := job.Files(folder)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", fmt.Errorf("cannot create the folder of the scripts: %w", err)
	}
	former, _ := filepath.Glob(filepath.Join(folder, "array-*.sh"))
	for _, path := range former {
		if err := os.Remove(path); err != nil {
			return "", fmt.Errorf("cannot remove a former script: %w", err)
		}
	}
	for _, file := range files {
		err := wholefile.Write(filepath.Join(folder, file.Name), func(w io.Writer) error {
			_, err := io.WriteString(w, file.Text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	script := filepath.Join(folder, cluster.SubmitScript)
	return script, os.Chmod(script, 0o777)
}

func submit(script string, s streams) error {
	command := exec.Command("bash", script)
	command.Stdout, command.Stderr = s.out, s.err
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	return nil
}

// usualArraySize is Slurm's own setting where a cluster has none.
const usualArraySize = 1001

var arraySizeLine = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([1-9][0-9]*)`)

// maxArraySize asks the cluster; away from one it assumes the usual size.
func maxArraySize() int {
	text, err := exec.Command("scontrol", "show", "config").Output()
	if err != nil {
		return usualArraySize
	}
	match := arraySizeLine.FindSubmatch(text)
	if match == nil {
		return usualArraySize
	}
	size, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return usualArraySize
	}
	return size
}
