// Command outcomes makes runs of IWDAN on the demo with this program and in eager PyTorch
// (research/bench/outcome_peer.py), seed by seed, and writes how each ended. The two share images,
// settings and formulas but no random number, so that a seed says nothing and many say
// whether a failure is the algorithm's or ours.
//
//	go run ./research/bench/outcomes [-seeds N] [-first N] [-normalise] [-o FILE.csv]
//
// Runs that the file has are not made again.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/research/bench/worker"
)

func main() {
	seeds := flag.Int64("seeds", 20, "number of seeds")
	first := flag.Int64("first", 1, "the first seed")
	normalise := flag.Bool("normalise", false, "features of one scale before the discriminator, the first setting of the recipe; the paper's protocol without")
	python := flag.String("python", "/usr/bin/python3", "a Python with PyTorch and cvxopt")
	file := flag.String("o", "research/bench/results/outcomes.csv", "file for the outcomes")
	flag.Parse()
	c := comparison{*python, *normalise}
	if err := c.run(*file, *first, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, "outcomes:", err)
		os.Exit(1)
	}
}

// comparison is of this program with its peer.
type comparison struct {
	python    string
	normalise bool
}

// setting names what is compared.
func (c comparison) setting() string {
	if c.normalise {
		return "normalised"
	}
	return "paper"
}

// sides are the two that make the same runs.
var sides = []struct {
	name string
	run  func(c comparison, run config.Resolved, set []string) (curve, error)
}{{"iwda", comparison.ours}, {"PyTorch", comparison.peers}}

// run makes the runs that the file lacks, and prints how those of the setting ended.
func (c comparison) run(path string, first, seeds int64) error {
	worker.ForgetKernels()
	known, err := readOutcomes(path)
	if err != nil {
		return err
	}
	for seed := first; seed < first+seeds; seed++ {
		run, set, err := c.demo(seed)
		if err != nil {
			return err
		}
		for _, side := range sides {
			if known.has(c.setting(), seed, side.name) {
				continue
			}
			curve, err := side.run(c, run, set)
			if err != nil {
				return fmt.Errorf("seed %d, %s: %w", seed, side.name, err)
			}
			ended := curve.outcome(c.setting(), seed, side.name)
			known = append(known, ended)
			if err := known.write(path); err != nil {
				return err
			}
			fmt.Println(ended)
		}
	}
	for _, side := range sides {
		fmt.Println(known.summary(c.setting(), side.name))
	}
	return nil
}

const (
	demo    = "configs/demo.yaml"
	results = "build/outcomes" // the folder of this program's runs
)

// demo is the run of a seed, and what makes it of the demo's file.
func (c comparison) demo(seed int64) (run config.Resolved, set []string, err error) {
	way := "none"
	if c.normalise {
		way = config.RowScale
	}
	set = []string{"methods=[iwdan]", fmt.Sprintf("seeds=[%d]", seed), "discriminator.normalise=" + way}
	file, err := config.Load(demo)
	if err != nil {
		return run, set, err
	}
	if err := file.Set(set); err != nil {
		return run, set, err
	}
	run, err = file.Single()
	return run, set, err
}

// ours makes a run of this program, which fails where a loss is not finite.
func (c comparison) ours(run config.Resolved, set []string) (of curve, err error) {
	arguments := []string{"-c", demo, "-o", results, "-j", "1", "--threads", "1"}
	for _, assignment := range set {
		arguments = append(arguments, "--set", assignment)
	}
	dir := plan.Of(run).Dir(results)
	said, failed := exec.Command(worker.Program, arguments...).CombinedOutput()
	if failed != nil {
		why, _, err := dir.ReadFailure()
		loss := diverged.FindStringSubmatch(why)
		if err != nil || loss == nil {
			return of, fmt.Errorf("%w: %s", failed, said)
		}
		of.NotFinite = loss[1]
	}
	metrics, err := dir.ReadMetrics()
	for _, m := range metrics {
		of.Accuracies = append(of.Accuracies, m.Accuracy.Value)
	}
	return of, err
}

// diverged is what a run says of a loss or gradient that is not finite.
var diverged = regexp.MustCompile(`the ([\w' ]+) is \S+; training has diverged`)

// peers makes the same run in PyTorch.
func (c comparison) peers(run config.Resolved, _ []string) (of curve, err error) {
	folder, err := os.MkdirTemp("", "outcomes")
	if err != nil {
		return of, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := writeRun(folder, run); err != nil {
		return of, err
	}
	var said bytes.Buffer
	command := exec.Command(c.python, "research/bench/outcome_peer.py", folder)
	command.Env = append(schedule.Environment(1), "PYTHONDONTWRITEBYTECODE=1")
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		return of, fmt.Errorf("%w: %s", err, &said)
	}
	return of, json.Unmarshal(text, &of)
}
