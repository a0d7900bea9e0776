// Package worker starts workers, iwrun-torch alone, without the parent that schedules them,
// and measures them.
package worker

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"iwda/experiments/config"
	"iwda/experiments/engine"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/experiments/store"
)

// Program is what users run; `make build` makes it.
const Program = "build/iwrun"

// Prepare makes the folder of the only run of an experiment, below the folder of
// results.
func Prepare(results, experiment string) (store.Dir, error) {
	run, err := config.ParseRun("bench.yaml", []byte(experiment))
	if err != nil {
		return store.Dir{}, err
	}
	dir := plan.Of(run).Dir(results)
	if err := dir.Begin(); err != nil {
		return store.Dir{}, err
	}
	text, err := run.YAML()
	if err != nil {
		return store.Dir{}, err
	}
	return dir, dir.WriteConfig(text)
}

// ForgetKernels takes the settings of OpenBLAS out of this process's environment, and
// so out of those of the processes that it starts: each does what it does by itself. It
// returns them, as NAME=value.
func ForgetKernels() (forgotten []string) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OPENBLAS_") {
			os.Unsetenv(name)
			forgotten = append(forgotten, variable)
		}
	}
	return forgotten
}

// workers is what iwrun starts, made by `make build` too.
const workers = "build/bin/iwrun-torch"

// Command is a worker of one thread for the run of a folder, in the environment that
// iwrun gives it.
func Command(dir store.Dir) *exec.Cmd {
	how, _ := json.Marshal(engine.Work{Device: "cpu", Threads: 1, Checkpoints: 5 * time.Minute}) // of words and numbers
	command := exec.Command(workers, strconv.Itoa(engine.Protocol), "worker", string(how), dir.String())
	command.Env = schedule.Environment(1)
	command.StdinPipe() // whose end would end it, and which Wait closes
	return command
}

// Step is the number of steps that a line of a worker's output reports, 0 where it
// reports none.
func Step(line string) int {
	var event struct {
		Event string `json:"event"`
		Step  int    `json:"step"`
	}
	if json.Unmarshal([]byte(line), &event) != nil || event.Event != "progress" {
		return 0
	}
	return event.Step
}

// Follow starts a command and reads its output line by line, until heard, which gets
// the time since the start, returns true. Then it kills the process and waits for it.
// A process that ends before is an error.
func Follow(command *exec.Cmd, heard func(line string, since time.Duration) (enough bool)) error {
	var said strings.Builder
	command.Stderr = &said
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	started := time.Now()
	if err := command.Start(); err != nil {
		return err
	}
	var last string
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if last = lines.Text(); heard(last, time.Since(started)) {
			command.Process.Kill()
			command.Wait()
			return nil
		}
	}
	return fmt.Errorf("%s ended early: %v: %s%s", command, command.Wait(), said.String(), last)
}
