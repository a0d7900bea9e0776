// Learners fits each learner to rows of a file, and prints as JSON the processor time of a fit and the
// log-loss of the rows of another file by seed. The last column of a file is the class; learners.py writes
// and reads them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"

	"gonum.org/v1/gonum/floats"

	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/learners/perceptron"
	"iwda/learners/regression"
)

// measured is what came of a learner.
type measured struct {
	CPU  float64   `json:"cpu"` // seconds of a fit, with its predictions by cross-validation
	Loss []float64 `json:"loss"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 3 {
		return fmt.Errorf("usage: learners LEARNT.csv HELD.csv SEEDS")
	}
	learnt, err := read(arguments[0])
	if err != nil {
		return err
	}
	held, err := read(arguments[1])
	if err != nil {
		return err
	}
	seeds, err := strconv.ParseUint(arguments[2], 10, 64)
	if err != nil {
		return err
	}
	results := map[string]measured{}
	for name, learner := range map[string]learners.Learner{"linear": regression.Fit, "forest": forest.Fit, "boosting": boosting.Usual().Fit, "perceptron": perceptron.Usual().Fit} {
		var of measured
		for seed := range seeds {
			before := processorTime()
			fitted, err := learner(context.Background(), learnt, nil, 1, rand.NewPCG(seed, 1))
			if err != nil {
				return err
			}
			of.CPU += (processorTime() - before) / float64(seeds)
			of.Loss = append(of.Loss, loss(fitted.Model.Logits(held.Values, held.Columns(), 1), held.Labels, learnt.Classes))
		}
		results[name] = of
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

func read(name string) (rows learners.Rows, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return rows, err
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		for i, cell := range cells {
			v, err := strconv.ParseFloat(cell, 32)
			if err != nil {
				return rows, fmt.Errorf("%s: row %d: %w", name, len(rows.Labels)+1, err)
			}
			if i < len(cells)-1 {
				rows.Values = append(rows.Values, float32(v))
				continue
			}
			rows.Labels, rows.Classes = append(rows.Labels, int(v)), max(rows.Classes, int(v)+1)
		}
	}
	return rows, nil
}

// loss is the mean cross-entropy of logits (n×k).
func loss(logits []float64, labels []int, k int) (sum float64) {
	for i, y := range labels {
		sum += (floats.LogSumExp(logits[i*k:(i+1)*k]) - logits[i*k+y]) / float64(len(labels))
	}
	return sum
}

func processorTime() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
