// Command bench measures this program against eager PyTorch doing the same work, one
// thread each, in interleaved rounds on the same machine, prints the ratios and writes
// them to a JSON file.
//
//	go run ./bench [-rounds N] [-only PATTERN] [-o FILE]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// work is one thing that both sides do.
type work struct {
	name       string
	pack       string // the package with our benchmark
	benchmark  string // its name, without "Benchmark"
	peer       peer
	iterations int // a round, each side
	goal       float64
}

// peer is what the other side runs: a script, its arguments before the number of
// iterations, and the column of its output that holds milliseconds.
type peer struct {
	script    string
	arguments []string
	column    int
}

func torchPeer(work string) peer { return peer{"bench/peer.py", []string{work}, 0} }

// loaderPeer reads the images that our benchmark wrote, with as many workers.
func loaderPeer(workers, column int) peer {
	return peer{"bench/loader_peer.py", []string{imagesFolder, strconv.Itoa(workers)}, column}
}

// imagesFolder stands for the folder of the images in a peer's arguments.
const imagesFolder = "IMAGES"

var works = []work{
	{"digits step, source-only", "experiments/train", "Step/source-only", torchPeer("step-source-only"), 60, 1.6},
	{"digits step, DANN", "experiments/train", "Step/dann", torchPeer("step-dann"), 60, 1.6},
	{"digits step, IWDAN", "experiments/train", "Step/iwdan", torchPeer("step-iwdan"), 60, 1.6},
	{"digits step, CDAN", "experiments/train", "Step/cdan", torchPeer("step-cdan"), 40, 1.4},
	{"digits step, IWCDAN", "experiments/train", "Step/iwcdan", torchPeer("step-iwcdan"), 40, 1.4},
	{"10,000 digits evaluated, PyTorch one at a time", "experiments/train", "Evaluate", torchPeer("evaluate-one"), 3, 2.5},
	{"10,000 digits evaluated, both in batches", "experiments/train", "Evaluate", torchPeer("evaluate-batch"), 3, 1},
	{"batch of 36 JPEGs, first pass, 1 worker", "datasets/images", "Loader/first/workers=1", loaderPeer(1, 0), 12, 1},
	{"batch of 36 JPEGs, first pass, 2 workers", "datasets/images", "Loader/first/workers=2", loaderPeer(2, 0), 12, 1},
	{"batch of 36 JPEGs, cached, 1 worker", "datasets/images", "Loader/cached/workers=1", loaderPeer(1, 1), 12, 1.5},
	{"batch of 36 JPEGs, cached, 2 workers", "datasets/images", "Loader/cached/workers=2", loaderPeer(2, 1), 12, 1.5},
}

// result is a line of the table and of the JSON file.
type result struct {
	Work   string    `json:"work"`
	OursMS float64   `json:"ours_ms"`
	PeerMS float64   `json:"peer_ms"`
	Ratio  float64   `json:"ratio"` // the peer's time over ours: above 1, we are faster
	Goal   float64   `json:"goal"`
	Spread []float64 `json:"spread"` // the smallest and the largest ratio of a round
	Rounds int       `json:"rounds"`
}

func main() {
	rounds := flag.Int("rounds", 5, "interleaved rounds")
	only := flag.String("only", ".", "works whose name matches this regular expression")
	output := flag.String("o", "bench/results/latest.json", "file for the numbers")
	flag.Parse()
	if err := run(*rounds, *only, *output); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, only, output string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	python, version, err := findPython()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	fmt.Printf("%s against PyTorch %s, %s/%s, %d cores, one thread each\n", runtime.Version(), version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	var results []result
	for _, w := range works {
		if !pattern.MatchString(w.name) {
			continue
		}
		r, err := w.measure(folder, python, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		results = append(results, r)
		fmt.Fprintf(os.Stderr, "%s: %.2f\n", r.Work, r.Ratio)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tours ms\tPyTorch ms\tratio\tof rounds\tgoal")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%.3f\t%.3f\t%.2f\t%.2f–%.2f\t%.1f\n", r.Work, r.OursMS, r.PeerMS, r.Ratio, r.Spread[0], r.Spread[1], r.Goal)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o777); err != nil {
		return err
	}
	return os.WriteFile(output, append(data, '\n'), 0o666)
}

// measure alternates between the two sides, so that a slow spell of the machine hits
// both, and takes the median of the rounds' ratios.
func (w work) measure(folder, python string, rounds int) (result, error) {
	binary := filepath.Join(folder, strings.ReplaceAll(w.pack, "/", "-")+".test")
	if _, err := os.Stat(binary); err != nil {
		if _, err := output("go", "test", "-c", "-o", binary, "./"+w.pack); err != nil {
			return result{}, err
		}
	}
	var ours, peers, ratios []float64
	for range rounds {
		mine, err := w.ours(binary, filepath.Join(folder, "images"))
		if err != nil {
			return result{}, err
		}
		peer, err := w.peer.run(python, filepath.Join(folder, "images"), w.iterations)
		if err != nil {
			return result{}, err
		}
		ours, peers, ratios = append(ours, mine), append(peers, peer), append(ratios, peer/mine)
	}
	return result{
		Work: w.name, OursMS: median(ours), PeerMS: median(peers), Ratio: median(ratios), Goal: w.goal,
		Spread: []float64{slices.Min(ratios), slices.Max(ratios)}, Rounds: rounds,
	}, nil
}

var perOperation = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s+.*?([0-9.]+) ms\b`)

// ours runs our benchmark and returns the milliseconds that it reports.
func (w work) ours(binary, images string) (float64, error) {
	pattern := "^Benchmark" + strings.ReplaceAll(w.benchmark, "/", "$/^") + "$"
	text, err := outputWith([]string{"IWDA_BENCH_IMAGES=" + images}, binary, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+strconv.Itoa(w.iterations)+"x")
	if err != nil {
		return 0, err
	}
	match := perOperation.FindStringSubmatch(text)
	if match == nil {
		return 0, fmt.Errorf("no ms in the output of %s: %s", w.benchmark, text)
	}
	return strconv.ParseFloat(match[1], 64)
}

// findPython returns a Python that has PyTorch.
func findPython() (path, version string, err error) {
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		if text, err := output(candidate, "bench/peer.py", "version"); err == nil {
			return candidate, strings.TrimSpace(text), nil
		}
	}
	return "", "", fmt.Errorf("no python3 with PyTorch; on Debian: apt-get install --no-install-recommends python3-torch")
}

// run returns the milliseconds that the peer reports.
func (p peer) run(python, images string, iterations int) (float64, error) {
	arguments := []string{p.script}
	for _, a := range p.arguments {
		arguments = append(arguments, strings.ReplaceAll(a, imagesFolder, images))
	}
	text, err := output(python, append(arguments, strconv.Itoa(iterations))...)
	if err != nil {
		return 0, err
	}
	columns := strings.Fields(text)
	if len(columns) <= p.column {
		return 0, fmt.Errorf("%s printed %q", p.script, text)
	}
	return strconv.ParseFloat(columns[p.column], 64)
}

func output(name string, arguments ...string) (string, error) {
	return outputWith(nil, name, arguments...)
}

func outputWith(environment []string, name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	var errors strings.Builder
	command.Stderr = &errors
	command.Env = append(os.Environ(), append(environment, "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1")...)
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, errors.String())
	}
	return string(text), nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
