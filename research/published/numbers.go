package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed alexandari2020.csv
var alexandariCSV string

//go:embed lipton2018.csv
var liptonCSV string

// The metrics of Alexandari, Kundaje and Shrikumar (2020).
const (
	// weightMSE is the mean over the classes of (w - ŵ)².
	weightMSE = "weight_mse"
	// accuracyGain is the accuracy of the corrected predictions less that of the
	// classifier's own, a fraction of 1.
	accuracyGain = "accuracy_gain"
)

// quartiles are those of a metric over trials.
type quartiles struct{ low, median, high float64 }

// alexandariKey names an entry of the results of Alexandari, Kundaje and Shrikumar
// (2020) on MNIST.
type alexandariKey struct {
	condition
	method
	metric string
}

// alexandariNumbers are the quartiles over 100 trials, computed from the results that the
// authors released. Their medians are those of the printed tables.
var alexandariNumbers = sync.OnceValue(func() map[alexandariKey]quartiles {
	entries := map[alexandariKey]quartiles{}
	for _, line := range linesOf(alexandariCSV) {
		shift := Shift{Kind: line.text("shift"), Parameter: line.number("parameter")}
		if shift.Kind == TweakOne {
			shift.Class = 3
		}
		key := alexandariKey{condition{shift, int(line.number("rows"))}, method{line.text("estimator"), line.text("calibration")}, line.text("metric")}
		entries[key] = quartiles{line.number("q25"), line.number("median"), line.number("q75")}
	}
	return entries
})

// liptonKey names an entry of the results of Lipton, Wang and Smola (2018) on MNIST under
// Dirichlet shift.
type liptonKey struct {
	condition
	way string // unweighted, bbse-hard, bbse-soft
}

// liptonEntry sums up 20 runs.
type liptonEntry struct {
	meanWeightMSE, medianWeightMSE float64 // of the mean over the classes of (w - ŵ)²
	meanAccuracy, medianAccuracy   float64 // after training with the weights, fraction of 1
}

// liptonNumbers are what the results that the authors released come to, which the paper
// shows in figures alone.
var liptonNumbers = sync.OnceValue(func() map[liptonKey]liptonEntry {
	entries := map[liptonKey]liptonEntry{}
	for _, line := range linesOf(liptonCSV) {
		key := liptonKey{condition{Shift{Kind: Dirichlet, Parameter: line.number("alpha")}, int(line.number("rows"))}, line.text("estimator")}
		entries[key] = liptonEntry{line.number("mse_mean"), line.number("mse_median"), line.number("accuracy_mean"), line.number("accuracy_median")}
	}
	return entries
})

// csvLine is a line of an embedded file by the names of its columns.
type csvLine map[string]string

func (l csvLine) text(column string) string {
	text, ok := l[column]
	if !ok {
		panic(fmt.Sprintf("published: no column %q", column))
	}
	return text
}

func (l csvLine) number(column string) float64 {
	value, err := strconv.ParseFloat(l.text(column), 64)
	if err != nil {
		panic(fmt.Sprintf("published: column %q: %v", column, err))
	}
	return value
}

func linesOf(text string) []csvLine {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	var lines []csvLine
	for _, record := range records[1:] {
		line := csvLine{}
		for i, column := range records[0] {
			line[column] = record[i]
		}
		lines = append(lines, line)
	}
	return lines
}
