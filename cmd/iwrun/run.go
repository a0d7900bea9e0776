package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/plan"
	"iwda/experiments/progress"
	"iwda/experiments/report/sheet"
	"iwda/experiments/schedule"
	"iwda/torch"
)

// runOptions say what is trained and on what.
type runOptions struct {
	experimentOptions
	machineOptions
	selection
	faultOptions
	DryRun bool
}

func runFlags() []cli.Flag {
	return append(slices.Concat(experimentFlags(), machineFlags(), selectionFlags(), faultFlags()),
		&cli.BoolFlag{Name: "dry-run", Usage: "print the ids of the runs, one a line, and run nothing"},
	)
}

func runOptionsOf(c *cli.Context) runOptions {
	return runOptions{
		experimentOptions: experimentOptionsOf(c),
		machineOptions:    machineOptionsOf(c),
		selection:         selectionOf(c),
		faultOptions:      faultOptionsOf(c),
		DryRun:            c.Bool("dry-run"),
	}
}

// runExperiment carries out what is not finished and prints the table. Everything
// that can be wrong with the options is found before anything is written.
func runExperiment(o runOptions, s streams) error {
	file, runs, err := o.loadRuns()
	if err != nil {
		return err
	}
	if runs, _, err = o.choose(runs); err != nil {
		return err
	}
	if o.DryRun {
		for _, run := range runs {
			fmt.Fprintln(s.out, run.ID)
		}
		fmt.Fprintln(s.err, lengths(runs))
		return nil
	}
	if err := plan.CheckData(runs); err != nil {
		return err
	}
	place, err := placeInGroup()
	if err != nil {
		return err
	}
	if err := place.check(runs); err != nil {
		return err
	}
	if place.size > 1 {
		device, err := o.deviceOf(place.local)
		if err != nil {
			return err
		}
		if place.rank > 0 {
			return takePart(runs[0], device, o, s)
		}
		// All processes would have to start again, which is their launcher's to do.
		o.Device, o.Retries = device.String(), 0
	}
	options, _, err := scheduleOptions(o.machineOptions, o.faultOptions, o.Results)
	if err != nil {
		return err
	}
	if err := checkSameData(ofOwnRows(runs), o.Results, o.Overwrite); err != nil {
		return err
	}
	if err := checkResults(runs, o.Results); err != nil {
		return err
	}
	summary, err := carryOut(runs, options, o.faultOptions, s)
	if err != nil {
		return err
	}
	printSummary(s.err, summary)
	if len(summary.Left) > 0 {
		return statusError(statusInterrupted)
	}
	if o.Index == allRuns { // the tables of one run of many would be read by nobody
		if err := printTable(file, o.Results, "", sheet.Markdown, s); err != nil && !errors.Is(err, errNothingFinished) {
			return err
		}
	}
	if len(summary.Failed) > 0 {
		return statusError(statusFailed)
	}
	return nil
}

// scheduleOptions checks what was asked of the machine and of faults, and returns the
// options of runs below the folder of results, and the devices that they use.
func scheduleOptions(m machineOptions, f faultOptions, results string) (schedule.Options, []torch.Device, error) {
	devices, err := m.devices()
	if err != nil {
		return schedule.Options{}, nil, err
	}
	jobs, threads, err := m.share(devices)
	if err != nil {
		return schedule.Options{}, nil, err
	}
	options := schedule.Options{Results: results, Jobs: jobs, PerProcess: m.PerProcess, Devices: deviceNames(devices), Threads: threads}
	return options, devices, f.check()
}

// carryOut runs the workers, which are this program again, with progress on s.err.
// The first interruption stops them, the second one ends them; SIGUSR1 asks them for
// checkpoints.
func carryOut(runs []plan.Run, options schedule.Options, faults faultOptions, s streams) (schedule.Summary, error) {
	program, err := os.Executable()
	if err != nil {
		return schedule.Summary{}, fmt.Errorf("cannot find this program to start workers: %w", err)
	}
	display := progress.New(s.err, s.terminal(), len(runs))
	defer display.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	kill := make(chan struct{})
	defer onSignals(
		func() {
			display.Print("stopping: running workers write what they have; interrupt again to end them at once")
			cancel()
		},
		func() { close(kill) },
	)()

	checkpoints, release := onCheckpointSignals(func() { display.Print("running workers write a checkpoint and go on") })
	defer release()

	options.Command = []string{program, workerName, "--" + supervisedFlag}
	faults.apply(&options)
	options.Kill, options.Checkpoint = kill, checkpoints
	options.Observe = display.Observe
	return schedule.Run(ctx, runs, options), nil
}

// lengths says how many runs there are of which length, as in "12 runs: 8 of 20000
// steps, 4 of 100000 steps; 560000 steps in all".
func lengths(runs []plan.Run) string {
	counts := map[string]int{}
	var kinds []string
	total := 0
	for _, run := range runs {
		t := run.Config.Train
		kind := fmt.Sprintf("%d epochs", t.Epochs)
		if t.Steps > 0 {
			kind = fmt.Sprintf("%d steps", t.Steps)
			total += t.Steps
		}
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
		counts[kind]++
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d of %s", counts[kind], kind)
	}
	line := fmt.Sprintf("%d runs: %s", len(runs), strings.Join(kinds, ", "))
	if total > 0 {
		line += fmt.Sprintf("; %d steps in all", total)
	}
	return line
}
