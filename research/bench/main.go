// Command bench measures this program on this machine, against eager PyTorch, cvxopt and SciPy
// where they do the same work, in interleaved rounds, and prints and writes the numbers.
//
//	go run ./research/bench [-rounds N] [-time DURATION] [-only PATTERN] [-o FILE]
//
// A work gets as many rounds as fit into its time, so that slow ones get fewer. The exit
// status is 1 where a goal is missed or a work failed, after the table and the numbers.
//
// Ours runs in the environment that iwrun gives its workers, the peers in a plain one, as
// users start them. Settings of OpenBLAS reach neither, so that both take the kernels
// that it chooses; where these are older than the processor, the peer gets better ones. All have
// one thread, but the loaders of images.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

func main() {
	var p pace
	flag.IntVar(&p.rounds, "rounds", 5, "interleaved rounds of a work, at most")
	flag.DurationVar(&p.time, "time", 20*time.Second, "time for the rounds of a work; a round longer than that is the only one")
	only := flag.String("only", ".", "works whose name matches this regular expression")
	output := flag.String("o", "research/bench/results/latest.json", "file for the numbers")
	flag.Parse()
	if err := run(p, *only, *output); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(p pace, only, output string) error {
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
	var chosen []work
	for _, w := range works {
		if pattern.MatchString(w.name) {
			chosen = append(chosen, w)
		}
	}
	results, err := b.measureAll(chosen, p, output)
	if err != nil {
		return err
	}
	if err := printTable(os.Stdout, results); err != nil {
		return err
	}
	return missed(results)
}

// measureAll measures one work after the other, and writes all numbers so far after each. A work that
// fails says so in its place.
func (b *bench) measureAll(chosen []work, p pace, output string) (results []result, err error) {
	for _, w := range chosen {
		r, err := b.measure(w, p)
		if errors.Is(err, errNoDigits) {
			fmt.Fprintf(os.Stderr, "%s: left out: %v\n", w.name, err)
			continue
		}
		if err != nil {
			r = result{Work: w.name, Failure: err.Error()}
		}
		results = append(results, r)
		fmt.Fprintf(os.Stderr, "%s: %s\n", r.Work, r.verdict())
		if err := writeJSON(output, results); err != nil {
			return nil, err
		}
	}
	return results, nil
}
