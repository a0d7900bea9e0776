package evaluation

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Labelled are rows with labels, by their classes.
type Labelled struct {
	Classes  []int     // of each row (n), from 0
	Expected []float64 // the classes' probabilities without its label, row-major n×k; nil if nothing is expected
	Groups   []int     // as in [Scores]
}

// ClassShares estimates the share of each of k classes among so many rows, from those with labels; expected is
// the mean of what is expected of all rows (k), nil if nothing is. It is the regression estimator of
// [Accuracy], of each class: if ten labelled rows are of the class, and ten are not,
// it relies on what is expected as far as the labels confirm it. One λ serves all classes that do, so
// that their shares change by nothing in sum. Intervals are of each class by itself.
func ClassShares(labelled Labelled, k, rows int, expected []float64) []Estimate {
	n := float64(len(labelled.Classes))
	scores := make([]Scores, k)
	covariance, variance, powered := 0.0, 0.0, make([]bool, k)
	for class := range scores {
		s := Scores{Right: make([]float64, len(labelled.Classes)), Expected: make([]float64, len(labelled.Classes)), Groups: labelled.Groups}
		s.All.Rows = rows
		if expected != nil {
			s.All.mean = expected[class]
		}
		for i, c := range labelled.Classes {
			if c == class {
				s.Right[i] = 1
			}
			if labelled.Expected != nil {
				s.Expected[i] = labelled.Expected[i*k+class]
			}
		}
		of := floats.Sum(s.Right)
		if powered[class] = expected != nil && of >= fewest && n-of >= fewest; powered[class] {
			covariance += stat.Covariance(s.Right, s.Expected, nil)
			variance += stat.Variance(s.Expected, nil)
		}
		scores[class] = s
	}
	lambda := 0.0
	if variance > 0 {
		lambda = min(1, max(0, covariance/variance))
	}
	estimates := make([]Estimate, k)
	for class, s := range scores {
		if powered[class] {
			p := (floats.Sum(s.Right) + lambda*(s.All.mean*n-floats.Sum(s.Expected))) / n
			if p > 0 && p < 1 {
				estimates[class] = wilson(p, p*(1-p)/s.variance(lambda), s.reach(1))
				continue
			}
		}
		clear(s.Expected)
		s.All = Moments{Rows: rows}
		estimates[class], _ = Accuracy(s, 1)
	}
	return estimates
}
