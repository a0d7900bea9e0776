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
	peer       string // the work's name in peer.py
	iterations int    // a round, each side
	goal       float64
}

var works = []work{
	{"digits step, source-only", "experiments/train", "Step/source-only", "step-source-only", 60, 1.6},
	{"digits step, DANN", "experiments/train", "Step/dann", "step-dann", 60, 1.6},
	{"digits step, IWDAN", "experiments/train", "Step/iwdan", "step-iwdan", 60, 1.6},
	{"digits step, CDAN", "experiments/train", "Step/cdan", "step-cdan", 40, 1.4},
	{"digits step, IWCDAN", "experiments/train", "Step/iwcdan", "step-iwcdan", 40, 1.4},
	{"10,000 digits evaluated, PyTorch one at a time", "experiments/train", "Evaluate", "evaluate-one", 3, 2.5},
	{"10,000 digits evaluated, both in batches", "experiments/train", "Evaluate", "evaluate-batch", 3, 1},
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
		mine, err := w.ours(binary)
		if err != nil {
			return result{}, err
		}
		text, err := output(python, "bench/peer.py", w.peer, strconv.Itoa(w.iterations))
		if err != nil {
			return result{}, err
		}
		peer, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
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

var perOperation = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s+.*?([0-9.]+) median-ms`)

// ours runs our benchmark and returns the median milliseconds that it reports.
func (w work) ours(binary string) (float64, error) {
	pattern := "^Benchmark" + strings.ReplaceAll(w.benchmark, "/", "$/^") + "$"
	text, err := output(binary, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+strconv.Itoa(w.iterations)+"x")
	if err != nil {
		return 0, err
	}
	match := perOperation.FindStringSubmatch(text)
	if match == nil {
		return 0, fmt.Errorf("no median-ms in the output of %s: %s", w.benchmark, text)
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

func output(name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	var errors strings.Builder
	command.Stderr = &errors
	command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1")
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
