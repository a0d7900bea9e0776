package evaluation

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Labelled are the labelled rows of a stratum, by their classes.
type Labelled struct {
	Share    float64   // of all rows that belong to the stratum
	Classes  []int     // of each row (n), from 0
	Expected []float64 // the classes' probabilities without its label, row-major n×k; nil if nothing is expected
	Groups   []int     // as in [Stratum]
}

// ClassShares estimates the share of each of k classes among so many rows, from those with labels; expected is
// the mean of what is expected of all rows (k), nil if nothing is. It is the regression estimator of
// [Accuracy], of each class: if ten labelled rows are of the class, and ten are not, and rows were drawn from
// all, it relies on what is expected as far as the labels confirm it. One λ serves all classes that do, so
// that their shares change by nothing in sum. Intervals are of each class by itself.
func ClassShares(strata []Labelled, k, rows int, expected []float64) []Estimate {
	scores := make([]Scores, k)
	for class := range scores {
		scores[class].All.Rows = rows
		if expected != nil {
			scores[class].All.mean = expected[class]
		}
		for _, s := range strata {
			one := Stratum{Share: s.Share, Right: make([]float64, len(s.Classes)), Expected: make([]float64, len(s.Classes)), Groups: s.Groups}
			for i, c := range s.Classes {
				if c == class {
					one.Right[i] = 1
				}
				if s.Expected != nil {
					one.Expected[i] = s.Expected[i*k+class]
				}
			}
			scores[class].Strata = append(scores[class].Strata, one)
		}
	}
	covariance, variance, powered := 0.0, 0.0, make([]bool, k)
	for class, s := range scores {
		only := s.Strata[0]
		n, of := float64(len(only.Right)), floats.Sum(only.Right)
		if powered[class] = expected != nil && len(strata) == 1 && of >= fewest && n-of >= fewest; powered[class] {
			covariance += stat.Covariance(only.Right, only.Expected, nil)
			variance += stat.Variance(only.Expected, nil)
		}
	}
	lambda := 0.0
	if variance > 0 {
		lambda = min(1, max(0, covariance/variance))
	}
	estimates := make([]Estimate, k)
	for class, s := range scores {
		only := s.Strata[0]
		if powered[class] {
			p := (floats.Sum(only.Right) + lambda*(s.All.mean*float64(len(only.Right))-floats.Sum(only.Expected))) / float64(len(only.Right))
			if p > 0 && p < 1 {
				estimates[class] = wilson(p, p*(1-p)/s.variance(lambda), s.reach(1))
				continue
			}
		}
		for i := range s.Strata {
			clear(s.Strata[i].Expected)
		}
		estimates[class], _ = Accuracy(Scores{s.Strata, Moments{Rows: rows}}, 1)
	}
	return estimates
}
