package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"iwda/research/bench/worker"
)

// errNoDigits is returned by works that need the real data.
var errNoDigits = errors.New("set IWDA_DATA to the folder that holds digits/ with MNIST and USPS")

// experiment is a file with one run a seed, on MNIST and USPS or else on drawn digits.
func (b *bench) experiment(method, seeds, train string) string {
	data := "dataset: {name: glyphs}\ntasks: [clean-warped]"
	if b.digits != "" {
		data = fmt.Sprintf("dataset: {name: digits, root: %q}\ntasks: [mnist-usps]", b.digits)
	}
	return fmt.Sprintf("experiment: bench\n%s\nvariants: [full]\nmethods: [%s]\nseeds: [%s]\nnetwork: {name: lenet}\ntrain: {%s}\n",
		data, method, seeds, train)
}

// startWorker takes the time from the start of a worker to the report of its first
// step, in seconds. Before it, the worker evaluates the network on the test set.
func startWorker(b *bench, _ []string) (numbers, error) {
	results, err := os.MkdirTemp(b.folder, "start")
	if err != nil {
		return nil, err
	}
	dir, err := worker.Prepare(results, b.experiment("dann", "1", "domain_from_epoch: 1"))
	if err != nil {
		return nil, err
	}
	return untilLine(worker.Command(dir), func(line string) bool { return worker.Step(line) >= 1 })
}

func startPython(b *bench, environment []string) (numbers, error) {
	arguments := []string{"research/bench/start_peer.py"}
	if b.digits != "" {
		arguments = append(arguments, b.digits)
	}
	command := exec.Command(b.python, arguments...)
	command.Env = environment
	return untilLine(command, func(line string) bool { return line == "step" })
}

func untilLine(command *exec.Cmd, last func(string) bool) (numbers, error) {
	var took time.Duration
	err := worker.Follow(command, func(line string, since time.Duration) bool {
		took = since
		return last(line)
	})
	return numbers{"ms": took.Seconds() * 1e3, "value": took.Seconds()}, err
}

// throughput makes one run, then two at once, each with one thread, and compares runs
// by time, from iwrun's start to its end. The milliseconds are those of the two.
func throughput(b *bench, environment []string) (numbers, error) {
	if runtime.NumCPU() < 2 {
		return nil, errors.New("two runs at once need two cores")
	}
	one, err := b.timeRuns(environment, 1)
	if err != nil {
		return nil, err
	}
	two, err := b.timeRuns(environment, 2)
	return numbers{"ms": two.Seconds() * 1e3, "value": 2 * one.Seconds() / two.Seconds()}, err
}

// timeRuns makes so many runs of 500 steps at once.
func (b *bench) timeRuns(environment []string, runs int) (time.Duration, error) {
	results, err := os.MkdirTemp(b.folder, "runs")
	if err != nil {
		return 0, err
	}
	seeds := "1, 2"[:3*runs-2]
	file := b.path("runs.yaml")
	experiment := b.experiment("iwdan", seeds, "steps: 500, eval_every: 250, domain_from_epoch: 1")
	if err := os.WriteFile(file, []byte(experiment), 0o666); err != nil {
		return 0, err
	}
	started := time.Now()
	_, err = output(environment, worker.Program, "-c", file, "-o", results, "-j", strconv.Itoa(runs), "--threads", "1")
	return time.Since(started), err
}

// peakMemory is what a worker says of itself after a short run of CDAN: its steps and
// evaluations need as much as those of a long one.
func peakMemory(b *bench, _ []string) (numbers, error) {
	if b.digits == "" {
		return nil, errNoDigits
	}
	results, err := os.MkdirTemp(b.folder, "memory")
	if err != nil {
		return nil, err
	}
	dir, err := worker.Prepare(results, b.experiment("cdan", "1", "steps: 60, eval_every: 30, domain_from_epoch: 1"))
	if err != nil {
		return nil, err
	}
	if text, err := worker.Command(dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	result, err := dir.ReadResult()
	return numbers{"value": float64(result.PeakMemoryBytes) / 1e6}, err
}

// overhead is the share of processor time, in percent, that a benchmark of steps spends
// outside the C++ below: Go's code and runtime with its collector, and the crossing from
// Go to C but for the jump itself. Go's profiler counts what happens in C as the time of
// runtime.cgocall, whose own instructions are few. The samples include the
// preparation of the data, so that the share is an upper bound.
func overhead(b *bench, environment []string) (numbers, error) {
	binary, err := b.testBinary("experiments/train")
	if err != nil {
		return nil, err
	}
	const steps = 1000
	profile := b.path("steps.pprof")
	text, err := b.runBenchmark(environment, binary, "Step/dann", steps, "-test.cpuprofile="+profile)
	if err != nil {
		return nil, err
	}
	n, err := parseMetrics(text)
	if err != nil {
		return nil, err
	}
	top, err := output(environment, "go", "tool", "pprof", "-top", "-nodecount=100", "-nodefraction=0", binary, profile)
	if err != nil {
		return nil, err
	}
	inC, err := flatPercent(top, "runtime.cgocall", "runtime._ExternalCode")
	return numbers{"ms": n["ms"], "value": 100 - inC}, err
}

// flatPercent adds the shares of functions in the output of pprof -top, of which the
// first must be there.
func flatPercent(top string, functions ...string) (float64, error) {
	total := 0.0
	for i, function := range functions {
		line := regexp.MustCompile(`(?m)^\s*\S+\s+([\d.]+)%.*\s` + regexp.QuoteMeta(function) + `$`).FindStringSubmatch(top)
		switch {
		case line != nil:
			percent, err := strconv.ParseFloat(line[1], 64)
			if err != nil {
				return 0, err
			}
			total += percent
		case i == 0:
			return 0, fmt.Errorf("no %s in the profile:\n%s", function, strings.TrimSpace(top))
		}
	}
	return total, nil
}

// processor is the model that the system names.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if match := processorLine.FindSubmatch(text); err == nil && match != nil {
		return string(match[1])
	}
	return "unknown processor"
}
