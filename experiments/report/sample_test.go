package report

import (
	"strconv"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// digitsSample is an experiment with both tasks of the digits.
func digitsSample() config.Config {
	experiment := config.Config{
		Experiment: "digits", Title: "Digits",
		Tasks:    []string{"mnist-usps", "usps-mnist"},
		Variants: []string{"full", "subsampled"},
		Methods:  []string{"iwdan", "dann", "source-only"},
		Seeds:    []int64{1, 2, 3},
	}
	experiment.Dataset.Name = "digits"
	return experiment
}

// resultOf is that of one run of Digits.
func resultOf(variant, task, method string, seed int64, best, last float64) store.Result {
	return store.Result{
		Experiment: "digits", Variant: variant, Task: task, Method: method, Seed: seed,
		BestAccuracy: store.Measured(best), LastAccuracy: store.Measured(last),
	}
}

// runsWith are finished runs with these results, without folders.
func runsWith(results ...store.Result) []store.Run {
	var runs []store.Run
	for _, r := range results {
		runs = append(runs, store.Run{Result: r})
	}
	return runs
}

// digitsResults are 12 of the 36 runs.
func digitsResults() []store.Result {
	return []store.Result{
		resultOf("subsampled", "usps-mnist", "source-only", 2, 0.70, 0.65),
		resultOf("subsampled", "usps-mnist", "dann", 1, 0.80, 0.78),
		resultOf("subsampled", "usps-mnist", "dann", 2, 0.84, 0.80),
		resultOf("subsampled", "usps-mnist", "dann", 3, 0.88, 0.82),
		resultOf("subsampled", "usps-mnist", "iwdan", 1, 0.80, 0.79),       // best: a tie
		resultOf("subsampled", "usps-mnist", "iwdan", 2, 0.83, 0.79999999), // last: a tie in print
		resultOf("subsampled", "usps-mnist", "iwdan", 3, 0.95, 0.70),
		resultOf("subsampled", "mnist-usps", "dann", 1, 0.70, 0.60),
		resultOf("subsampled", "mnist-usps", "dann", 3, 0.74, 0.60),
		resultOf("subsampled", "mnist-usps", "iwdan", 1, 0.90, 0.90),
		resultOf("subsampled", "mnist-usps", "iwdan", 2, 0.92, 0.91),
		resultOf("full", "mnist-usps", "iwdan", 2, 0.9, 0.9),
	}
}

// shiftSample is an experiment that has two variants with class fractions.
func shiftSample() config.Config {
	e := digitsSample()
	e.Experiment, e.Tasks, e.Seeds = "digits", []string{"mnist-usps"}, []int64{1}
	e.Variants, e.Methods = []string{"source-1", "target-1", "target-2"}, []string{"dann", "iwdan", "cdan", "iwcdan"}
	return e
}

// shiftResults are seven of the twelve of Shift.
func shiftResults() []store.Result {
	results := detailed([]store.Result{
		resultOf("source-1", "mnist-usps", "dann", 1, 0.80, 0.70),
		resultOf("source-1", "mnist-usps", "iwdan", 1, 0.90, 0.90),
		resultOf("target-1", "mnist-usps", "dann", 1, 0.85, 0.85),
		resultOf("target-1", "mnist-usps", "iwdan", 1, 0.83, 0.83),
		resultOf("target-2", "mnist-usps", "iwdan", 1, 0.83, 0.83), // without its base
		resultOf("target-1", "mnist-usps", "cdan", 1, 0.7, 0.7),
		resultOf("target-1", "mnist-usps", "iwcdan", 1, 0.7, 0.7),
	})
	for i, divergence := range []float64{0.02, 0.02, 0.06, 0.06, 0.01, 0.06, 0.06} {
		results[i].JSD = store.Measured(divergence)
	}
	return results
}

// detailed gives the results classes, weights and predictions: of ten images of class
// 0 nine are right, of two of class 1 none; the other classes have three images each,
// of which the last is taken for a 0.
func detailed(results []store.Result) []store.Result {
	const k = 10
	for i := range results {
		r := &results[i]
		r.Confusion = make([][]int, k)
		for c := range k {
			r.Classes = append(r.Classes, strconv.Itoa(c))
			r.TrueWeights = append(r.TrueWeights, 1+float64(c)/10)
			r.Weights = append(r.Weights, 1+float64(c)/10+float64(r.Seed)/100)
			r.LabelDistributions.Source = append(r.LabelDistributions.Source, 1./k)
			r.LabelDistributions.Target = append(r.LabelDistributions.Target, 1./k)
			r.Confusion[c] = make([]int, k)
			r.Confusion[c][c], r.Confusion[c][0] = 2, 1
		}
		r.Confusion[0] = []int{9, 0, 0, 0, 0, 0, 0, 0, 0, 1}
		r.Confusion[1] = []int{0, 0, 2, 0, 0, 0, 0, 0, 0, 0}
		r.SourceConfusion = make([][]int, k)
		for c := range k {
			r.SourceConfusion[c] = make([]int, k)
			r.SourceConfusion[c][c] = 9
			r.SourceConfusion[c][(c+1)%k] = 1
		}
		r.WeightDistance = store.Measured(float64(r.Seed))
	}
	return results
}
