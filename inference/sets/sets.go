// Package sets says which classes a row may have: sets of classes by class-conditional conformal
// prediction (Vovk 2012, "Conditional validity of inductive conformal predictors"). A row's set holds
// its class with the probability of the level in every class by itself. So it does in a target whose
// class shares are any others, if within each class rows are distributed as in the source: nothing is
// estimated, and it holds for any number of rows.
//
// That takes held-out source rows that are exchangeable with the target's of their class, so a
// classifier that has seen neither. One that was fitted to the target's rows, as an adapted one was,
// gives sets that promise nothing.
//
// Scores by cross-fitting, in which each source row is judged by a classifier of the other folds, are
// not quite exchangeable with those of a target row by one of these classifiers. What is proven of them is
// twice the error, 1 - 2α (Barber, Candès, Ramdas and Tibshirani 2021); research/coverage.md has what was
// measured: near 1 - α.
package sets

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"iwda/internal/clusters"
)

// Thresholds are the least probabilities with which classes belong to a row's set, one a class. A
// class with the threshold 0 is in each set.
type Thresholds []float64

// Levels are those that are kept with models, for sets of rows to come.
var Levels = []float64{0.8, 0.9, 0.95, 0.99}

// Fit returns the thresholds for sets of the level, between 0 and 1, by the probabilities of n held-out
// source rows (row-major n×k), their labels from 0, and the groups of rows that belong together (n numbers,
// nil for none). What counts is one for each group in which a class has rows, shared by these (Lee,
// Barber and Willett 2023): then the level is that of a row of a new group. A class with fewer than
// 1/α - 1 groups, α = 1 - level, has the threshold 0. Rows of equal probability are in or out together,
// so that classes with ties are in sets more often than they need to be.
//
// An error is a level or a label that is none, and a probability that is none. Fit panics where lengths do
// not fit.
func Fit(classes int, probabilities []float64, labels, groups []int, level float64) (Thresholds, error) {
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("sets of the level %v; it must be between 0 and 1", level)
	}
	if len(probabilities) != len(labels)*classes {
		panic(fmt.Sprintf("sets: %d probabilities for %d rows of %d classes", len(probabilities), len(labels), classes))
	}
	of, _ := clusters.Dense(groups, len(labels))
	type member struct {
		probability float64
		group       int
	}
	ofClass := make([][]member, classes)
	for i, class := range labels {
		if class < 0 || class >= classes {
			return nil, fmt.Errorf("held-out row %d has label %d; there are %d classes", i, class, classes)
		}
		p := probabilities[i*classes+class]
		if !(p >= 0) {
			return nil, fmt.Errorf("held-out row %d gives class %d the probability %v", i, class, p)
		}
		ofClass[class] = append(ofClass[class], member{p, of[i]})
	}
	thresholds := make(Thresholds, classes)
	for class, members := range ofClass {
		slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.probability, b.probability) })
		sizes := make(map[int]float64)
		for _, m := range members {
			sizes[m.group]++
		}
		// Those below the threshold must count less than this; 1e-9 is rounding.
		most := (1-level)*float64(len(sizes)+1) - 1 + 1e-9
		below := 0.0
		for first := 0; first < len(members) && below <= most; {
			thresholds[class] = members[first].probability
			for p := members[first].probability; first < len(members) && members[first].probability == p; first++ {
				below += 1 / sizes[members[first].group]
			}
		}
	}
	return thresholds, nil
}

// Of returns the classes in the set of a row of k probabilities, rising. It may be empty: such a row
// is unlike the source's rows of every class.
func (t Thresholds) Of(row []float64) []int {
	var set []int
	for class, p := range row {
		if p >= t[class] {
			set = append(set, class)
		}
	}
	return set
}

// Check returns an error unless these are thresholds of k classes, as those of a file may not be.
func (t Thresholds) Check(classes int) error {
	if len(t) != classes {
		return fmt.Errorf("%d thresholds of sets for %d classes", len(t), classes)
	}
	for class, p := range t {
		if !(p >= 0) || math.IsInf(p, 1) {
			return fmt.Errorf("the threshold of class %d is %v; it must be 0 or more", class, p)
		}
	}
	return nil
}
