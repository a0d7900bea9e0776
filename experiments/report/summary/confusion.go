package summary

import (
	"slices"

	"iwda/experiments/paper"
	"iwda/experiments/store"
)

// Confusion is the predictions of a method on a task's test set.
type Confusion struct {
	Variant, Task, Method string
	Paper                 bool // printed there, not measured
	Classes               []string
	// Percent holds the share of the predictions (column) for each true class (row):
	// D_T(Ŷ = y' | Y = y). A class without samples has a row of zeros.
	Percent  [][]float64
	Accuracy float64 // in percent
	Seeds    int     // whose counts were added up
}

// Confusions returns the predictions of each method on a task at the end of the runs, the
// counts of all seeds added up, and after each method the paper's, where it prints them. Runs
// on a test set without labels have none.
func (s Selection) Confusions(variant, task string) (all []Confusion) {
	for _, method := range s.Methods {
		runs := slices.DeleteFunc(s.Runs(variant, task, method), func(r store.Run) bool { return r.Result.Confusion == nil })
		if len(runs) == 0 {
			continue
		}
		measured := sumConfusion(runs)
		measured.Variant, measured.Task, measured.Method = variant, task, method
		all = append(all, measured)
		printed, ok := paper.Confusion(s.Published(), variant, task, method)
		if ok && len(printed.Percent) == len(measured.Classes) {
			all = append(all, Confusion{
				Variant: variant, Task: task, Method: method, Paper: true,
				Classes: measured.Classes, Percent: printed.Percent, Accuracy: printed.Accuracy,
			})
		}
	}
	return all
}

// sumConfusion adds the counts of runs on the same test set, and turns them into
// percentages.
func sumConfusion(runs []store.Run) Confusion {
	classes := runs[0].Result.Classes
	c := Confusion{Classes: classes, Seeds: len(runs)}
	right, all := 0, 0
	for y := range classes {
		row, total := make([]float64, len(classes)), 0
		for _, run := range runs {
			for predicted, n := range run.Result.Confusion[y] {
				row[predicted] += float64(n)
				total += n
			}
			right += run.Result.Confusion[y][y]
		}
		for predicted := range row {
			row[predicted] *= 100 / float64(max(total, 1))
		}
		c.Percent = append(c.Percent, row)
		all += total
	}
	c.Accuracy = 100 * float64(right) / float64(max(all, 1))
	return c
}

// Name is the method, and that the numbers are the paper's if they are.
func (c Confusion) Name() string {
	if c.Paper {
		return c.Method + " (paper)"
	}
	return c.Method
}
