package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// What stands in a peer's arguments for folders of the bench.
const (
	imagesFolder   = "IMAGES"   // JPEG files
	problemsFolder = "PROBLEMS" // quadratic programs and label shifts with our solutions
)

// bench is what all works share.
type bench struct {
	folder       string // temporary
	python       string
	digits       string // folder of MNIST and USPS, empty where there is none
	environments environments
}

func newBench() (*bench, error) {
	os.Setenv("PYTHONDONTWRITEBYTECODE", "1") // beside the scripts
	python, err := findPython()
	if err != nil {
		return nil, err
	}
	environments, err := newEnvironments(python)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	b := &bench{folder: folder, python: python, environments: environments}
	digits := filepath.Join(os.Getenv("IWDA_DATA"), "digits")
	if _, err := os.Stat(filepath.Join(digits, "usps.bz2")); err == nil {
		b.digits = digits
	}
	if err := errors.Join(os.Mkdir(b.path(imagesFolder), 0o777), os.Mkdir(b.path(problemsFolder), 0o777)); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() { os.RemoveAll(b.folder) }

// path names a file of the bench's folder.
func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }

// findPython returns a Python that has what the peers import.
func findPython() (string, error) {
	var reasons []error
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		_, err := output(os.Environ(), candidate, "research/bench/peer.py", "versions")
		if err == nil {
			return candidate, nil
		}
		reasons = append(reasons, err)
	}
	return "", fmt.Errorf("no python3 with PyTorch, torchvision, cvxopt and SciPy; on Debian: apt-get install --no-install-recommends python3-torch python3-torchvision python3-cvxopt python3-scipy\n%w", errors.Join(reasons...))
}

// goBenchmark is our side of most works: a benchmark of one of our packages, so many
// iterations of it, and the metrics that it reports.
func goBenchmark(pack, name string, iterations int) side {
	return func(b *bench, environment []string) (numbers, error) {
		binary, err := b.testBinary(pack)
		if err != nil {
			return nil, err
		}
		text, err := b.runBenchmark(environment, binary, name, iterations, "-test.count=2") // the first is to warm up
		if err != nil {
			return nil, err
		}
		return parseMetrics(text)
	}
}

// testBinary builds a package's benchmarks once.
func (b *bench) testBinary(pack string) (string, error) {
	binary := b.path(strings.ReplaceAll(pack, "/", "-") + ".test")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	_, err := output(os.Environ(), "go", "test", "-c", "-o", binary, "./"+pack)
	return binary, err
}

func (b *bench) runBenchmark(environment []string, binary, name string, iterations int, more ...string) (string, error) {
	environment = append(environment, "IWDA_BENCH_IMAGES="+b.path(imagesFolder), "IWDA_BENCH_PROBLEMS="+b.path(problemsFolder))
	pattern := "^Benchmark" + strings.ReplaceAll(name, "/", "$/^") + "$"
	arguments := []string{"-test.run=^$", "-test.bench=" + pattern, fmt.Sprintf("-test.benchtime=%dx", iterations)}
	return output(environment, binary, append(arguments, more...)...)
}

var (
	benchmarkLine = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s+(.*)$`)
	metric        = regexp.MustCompile(`([-+.e\d]+) (\S+)`)
)

// parseMetrics reads "BenchmarkName 60 1234 ns/op 2.5 value", the last of such lines: the metrics by their units. One without
// ms has those that an operation takes.
func parseMetrics(text string) (numbers, error) {
	lines := benchmarkLine.FindAllStringSubmatch(text, -1)
	if lines == nil {
		return nil, fmt.Errorf("no benchmark in the output %q", text)
	}
	line := lines[len(lines)-1]
	n := make(numbers)
	for _, match := range metric.FindAllStringSubmatch(line[1], -1) {
		value, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line[0], err)
		}
		n[match[2]] = value
	}
	if _, ok := n["ms"]; !ok {
		n["ms"] = n["ns/op"] / 1e6
	}
	return n, nil
}

// script is the other side of most works: a script in Python that takes the arguments
// and the number of iterations and prints its numbers as JSON.
func script(iterations int, name string, arguments ...string) side {
	return func(b *bench, environment []string) (numbers, error) {
		call := []string{filepath.Join("research", "bench", name)}
		for _, a := range arguments {
			if a == imagesFolder || a == problemsFolder {
				a = b.path(a)
			}
			call = append(call, a)
		}
		text, err := output(environment, b.python, append(call, strconv.Itoa(iterations))...)
		if err != nil {
			return nil, err
		}
		var n numbers
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return nil, fmt.Errorf("%s printed %q: %w", name, text, err)
		}
		return n, nil
	}
}

// output runs a program and returns its standard output; an error holds what it said
// on the other one.
func output(environment []string, name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	var said strings.Builder
	command.Stderr = &said
	command.Env = environment
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s%s", name, strings.Join(arguments, " "), err, said.String(), text)
	}
	return string(text), nil
}
