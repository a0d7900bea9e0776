package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"iwda/research/bench/worker"
)

// table is data for a whole command, as commands.py makes them: so many rows in each of two domains, of three classes.
type table struct{ rows, columns int }

// small, middle and array are what users bring; from 48 columns on they are an array.
var (
	small  = table{800, 2}
	middle = table{5000, 30}
	array  = table{20000, 512}
)

func (t table) String() string { return fmt.Sprintf("%d + %d × %d", t.rows, t.rows, t.columns) }

// folder returns where the data lie, which are made once.
func (t table) folder(b *bench) (string, error) {
	folder := b.path(fmt.Sprintf("table-%d-%d", t.rows, t.columns))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	_, err := output(os.Environ(), b.python, "research/bench/commands.py", "data", folder, fmt.Sprint(t.rows), fmt.Sprint(t.columns))
	return folder, err
}

// effort is what a command took, in seconds: of processors, its workers' too, in all, and until the first answer.
type effort struct{ cpu, wall, first float64 }

// follow runs a program to its end.
func follow(environment []string, name string, arguments ...string) (effort, error) {
	command := exec.Command(name, arguments...)
	command.Env = environment
	said, err := command.StderrPipe()
	if err != nil {
		return effort{}, err
	}
	start := time.Now()
	if err := command.Start(); err != nil {
		return effort{}, err
	}
	var e effort
	var text strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); fmt.Fprintln(&text, lines.Text()) {
		if e.first == 0 && strings.HasPrefix(lines.Text(), "first answer") {
			e.first = time.Since(start).Seconds()
		}
	}
	if err := command.Wait(); err != nil {
		return e, fmt.Errorf("%v: %w\n%s", command, err, &text)
	}
	e.wall, e.cpu = time.Since(start).Seconds(), (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()
	return e, nil
}

// adapted is iwrun adapt, of which a part of the effort counts.
func (t table) adapted(part func(effort) float64) side {
	return func(b *bench, environment []string) (numbers, error) {
		folder, err := t.folder(b)
		if err != nil {
			return nil, err
		}
		out, err := os.MkdirTemp(b.folder, "adapted")
		if err != nil {
			return nil, err
		}
		e, err := follow(environment, worker.Program, "adapt", folder+"/source.npz", folder+"/target.npz", "-o", out)
		return numbers{"ms": part(e) * 1e3, "value": part(e)}, err
	}
}

// fitted is scikit-learn, by processor time.
func (t table) fitted(b *bench, environment []string) (numbers, error) {
	folder, err := t.folder(b)
	if err != nil {
		return nil, err
	}
	text, err := output(append(environment, "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"), b.python, "research/bench/commands.py", "fit", folder)
	if err != nil {
		return nil, err
	}
	var n numbers
	return n, json.Unmarshal([]byte(text), &n)
}

func processorTime(e effort) float64 { return e.cpu }
func wholeTime(e effort) float64     { return e.wall }
func timeToAnswer(e effort) float64  { return e.first }

// startIwrun is the processor time of a command that does nothing.
func startIwrun(_ *bench, environment []string) (numbers, error) {
	e, err := follow(environment, worker.Program, "--version")
	return numbers{"ms": e.cpu * 1e3, "value": e.cpu}, err
}

// buildIwrun is the time to build it from what was downloaded, and nothing that was compiled.
func buildIwrun(b *bench, _ []string) (numbers, error) {
	cache, err := os.MkdirTemp(b.folder, "cache")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(cache)
	e, err := follow(append(os.Environ(), "GOCACHE="+cache), "make", "iwrun")
	return numbers{"ms": e.wall * 1e3, "value": e.wall}, err
}
