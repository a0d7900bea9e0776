// Command bench measures this program on this machine, against eager PyTorch and cvxopt
// where they do the same work, in interleaved rounds, and prints and writes the numbers.
//
//	go run ./bench [-rounds N] [-only PATTERN] [-o FILE]
//
// Ours runs in the environment that iwrun gives its workers, the peers in a plain one, as
// users start them. Settings of OpenBLAS reach neither, so that both take the kernels
// that it chooses. All have one thread, but the loaders of images.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
)

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
	b, err := newBench()
	if err != nil {
		return err
	}
	defer b.close()
	header, err := b.header()
	if err != nil {
		return err
	}
	fmt.Print(header)
	var results []result
	for _, w := range works {
		if !pattern.MatchString(w.name) {
			continue
		}
		r, err := b.measure(w, rounds)
		if errors.Is(err, errNoDigits) {
			fmt.Fprintf(os.Stderr, "%s: left out: %v\n", w.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		results = append(results, r)
		fmt.Fprintf(os.Stderr, "%s: %s\n", r.Work, r.verdict())
	}
	if err := printTable(os.Stdout, results); err != nil {
		return err
	}
	return writeJSON(output, results)
}
