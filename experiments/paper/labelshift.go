package paper

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
	// WeightMSE is the mean over the classes of (w - ŵ)².
	WeightMSE = "weight_mse"
	// AccuracyGain is the accuracy of the corrected predictions less that of the
	// classifier's own, a fraction of 1.
	AccuracyGain = "accuracy_gain"
)

// Quartiles are those of a metric over trials.
type Quartiles struct{ Low, Median, High float64 }

// AlexandariKey names an entry of the results of Alexandari, Kundaje and Shrikumar
// (2020) on MNIST.
type AlexandariKey struct {
	Shift       string  // dirichlet, tweak-one
	Parameter   float64 // the concentration, or class 3's share
	Rows        int     // held-out rows, and as many target rows
	Estimator   string  // mlls, bbse-hard, bbse-soft, rlls-hard, rlls-soft
	Calibration string  // none, ts, nbvs, bcts, vs
	Metric      string
}

var alexandari = sync.OnceValue(func() map[AlexandariKey]Quartiles {
	entries := map[AlexandariKey]Quartiles{}
	for _, line := range linesOf(alexandariCSV) {
		key := AlexandariKey{line.text("shift"), line.number("parameter"), int(line.number("rows")), line.text("estimator"), line.text("calibration"), line.text("metric")}
		entries[key] = Quartiles{line.number("q25"), line.number("median"), line.number("q75")}
	}
	return entries
})

// AlexandariResult returns the quartiles over 100 trials, computed from the results that
// the authors released, and whether there are any. Their medians are those of the
// printed tables.
func AlexandariResult(key AlexandariKey) (Quartiles, bool) {
	q, ok := alexandari()[key]
	return q, ok
}

// LiptonKey names an entry of the results of Lipton, Wang and Smola (2018) on MNIST
// under Dirichlet shift.
type LiptonKey struct {
	Alpha     float64
	Rows      int    // of the source, and of the target
	Estimator string // unweighted, bbse-hard, bbse-soft
}

// LiptonEntry sums up 20 runs.
type LiptonEntry struct {
	MeanWeightMSE, MedianWeightMSE float64 // of the mean over the classes of (w - ŵ)²
	MeanAccuracy, MedianAccuracy   float64 // after training with the weights, fraction of 1
}

var lipton = sync.OnceValue(func() map[LiptonKey]LiptonEntry {
	entries := map[LiptonKey]LiptonEntry{}
	for _, line := range linesOf(liptonCSV) {
		key := LiptonKey{line.number("alpha"), int(line.number("rows")), line.text("estimator")}
		entries[key] = LiptonEntry{line.number("mse_mean"), line.number("mse_median"), line.number("accuracy_mean"), line.number("accuracy_median")}
	}
	return entries
})

// LiptonResult returns what the results that the authors released come to, which the
// paper shows in figures alone, and whether there are any.
func LiptonResult(key LiptonKey) (LiptonEntry, bool) {
	e, ok := lipton()[key]
	return e, ok
}

// csvLine is a line of an embedded file by the names of its columns.
type csvLine map[string]string

func (l csvLine) text(column string) string {
	text, ok := l[column]
	if !ok {
		panic(fmt.Sprintf("paper: no column %q", column))
	}
	return text
}

func (l csvLine) number(column string) float64 {
	value, err := strconv.ParseFloat(l.text(column), 64)
	if err != nil {
		panic(fmt.Sprintf("paper: column %q: %v", column, err))
	}
	return value
}

func linesOf(text string) []csvLine {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("paper: %v", err))
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
