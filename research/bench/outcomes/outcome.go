package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"iwda/internal/wholefile"
)

// outcome is how a run ended. Accuracies are fractions of 1.
type outcome struct {
	setting    string
	seed       int64
	side       string
	best, last float64 // of the epochs that were finished
	epochs     int     // finished
	notFinite  string  // the loss or gradient that ended the run; empty where all epochs were finished
}

// curve is the accuracies of a run before the first epoch and after each.
type curve struct {
	Accuracies []float64 `json:"accuracies"`
	NotFinite  string    `json:"not_finite"`
}

func (c curve) outcome(setting string, seed int64, side string) outcome {
	epochs := len(c.Accuracies) - 1
	return outcome{setting, seed, side, slices.Max(c.Accuracies), c.Accuracies[epochs], epochs, c.NotFinite}
}

func (o outcome) String() string {
	end := fmt.Sprintf("%.1f best, %.1f last", 100*o.best, 100*o.last)
	if o.notFinite != "" {
		end = fmt.Sprintf("the %s is not finite in epoch %d", o.notFinite, o.epochs+1)
	}
	return fmt.Sprintf("%s, seed %d, %s: %s", o.setting, o.seed, o.side, end)
}

// outcomes are those of a file.
type outcomes []outcome

func (all outcomes) has(setting string, seed int64, side string) bool {
	return slices.ContainsFunc(all, func(o outcome) bool { return o.setting == setting && o.seed == seed && o.side == side })
}

// summary says how the runs of one setting and side ended.
func (all outcomes) summary(setting, side string) string {
	var last []float64
	var runs, good int
	for _, o := range all {
		if o.setting != setting || o.side != side {
			continue
		}
		runs++
		if o.notFinite == "" {
			last = append(last, 100*o.last)
		}
		if o.notFinite == "" && o.last >= 0.9 {
			good++
		}
	}
	text := fmt.Sprintf("%s, %s: %d runs, %d not finite, %d above 90%% at the end", setting, side, runs, runs-len(last), good)
	if len(last) > 1 {
		mean, deviation := stat.MeanStdDev(last, nil)
		text += fmt.Sprintf("; of those that were finished %.1f ± %.1f, %.1f to %.1f", mean, deviation, floats.Min(last), floats.Max(last))
	}
	return text
}

var header = []string{"setting", "seed", "side", "best_accuracy", "last_accuracy", "epochs", "not_finite"}

func (o outcome) fields() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return []string{o.setting, strconv.FormatInt(o.seed, 10), o.side, number(o.best), number(o.last), strconv.Itoa(o.epochs), o.notFinite}
}

func parseOutcome(fields []string) (o outcome, err error) {
	o = outcome{setting: fields[0], side: fields[2], notFinite: fields[6]}
	var problems [4]error
	o.seed, problems[0] = strconv.ParseInt(fields[1], 10, 64)
	o.best, problems[1] = strconv.ParseFloat(fields[3], 64)
	o.last, problems[2] = strconv.ParseFloat(fields[4], 64)
	o.epochs, problems[3] = strconv.Atoi(fields[5])
	return o, errors.Join(problems[:]...)
}

// readOutcomes returns those of a file, none where there is no file.
func readOutcomes(path string) (all outcomes, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], header) {
		return nil, fmt.Errorf("%s: its columns are not %v", path, header)
	}
	for i, fields := range records[1:] {
		o, err := parseOutcome(fields)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
		}
		all = append(all, o)
	}
	return all, nil
}

func (all outcomes) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return wholefile.Write(path, func(w io.Writer) error {
		lines := csv.NewWriter(w)
		lines.Write(header)
		for _, o := range all {
			lines.Write(o.fields())
		}
		lines.Flush()
		return lines.Error()
	})
}
