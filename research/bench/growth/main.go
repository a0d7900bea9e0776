// Command growth measures how a run's time and memory grow with the number of classes,
// the batch and the data set, and writes the numbers as a table and a figure.
//
//	go run ./research/bench/growth [-seconds N] [-only PATTERN] [-o FILE.csv] [-figure FILE.png]
//
// Each point is a worker of its own in the environment that iwrun gives it, one thread.
// From its first step on it is watched for the given time and then ended: its memory is
// the largest that the system saw of the process.
package main

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"iwda/research/bench/worker"
)

func main() {
	seconds := flag.Float64("seconds", 3, "time for which the steps of a point are counted")
	only := flag.String("only", ".", "points whose name, as in \"classes, CDAN: 31\", matches this regular expression")
	table := flag.String("o", "research/bench/results/growth.csv", "file for the numbers")
	figure := flag.String("figure", "research/images/growth.png", "file for the figure")
	flag.Parse()
	if err := run(*seconds, *only, *table, *figure); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(seconds float64, only, table, figure string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "growth")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	worker.ForgetKernels()
	var measured []measurement
	for _, p := range points() {
		if !pattern.MatchString(p.String()) {
			continue
		}
		m, err := p.measure(folder, time.Duration(seconds*float64(time.Second)))
		if err != nil {
			return fmt.Errorf("%v: %w", p, err)
		}
		fmt.Fprintf(os.Stderr, "%v: %.2f ms a step, %.0f MB, first step after %.2f s\n", p, m.stepMS, m.megabytes, m.startSeconds)
		measured = append(measured, m)
	}
	if len(measured) == 0 {
		return errors.New("no point was measured")
	}
	return errors.Join(writeTable(table, measured), draw(figure, measured))
}

func writeTable(path string, measured []measurement) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	lines := csv.NewWriter(file)
	lines.Write([]string{"against", "series", "size", "ms_per_step", "peak_memory_mb", "seconds_to_first_step"})
	for _, m := range measured {
		decimals := func(value float64, count int) string { return strconv.FormatFloat(value, 'f', count, 64) }
		lines.Write([]string{m.against, m.series, strconv.Itoa(m.size), decimals(m.stepMS, 3), decimals(m.megabytes, 1), decimals(m.startSeconds, 2)})
	}
	lines.Flush()
	return errors.Join(lines.Error(), file.Close())
}
