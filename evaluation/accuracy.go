package evaluation

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Stratum is the labelled rows of a part of all rows, drawn from it at random without
// replacement. Rows that were drawn from all are one stratum, whose share is 1.
type Stratum struct {
	Share    float64   // of all rows that belong to it; those of all strata sum to 1
	Right    []float64 // of each row (n), 1 if it is right, 0 if not
	Expected []float64 // how likely that was without its label (n): its confidence
}

// Estimate is a share of rows, or a difference of two, and its interval of 95%.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// level is that of intervals.
const level = 0.95

// fewest is the number of rows that are right, and of those that are wrong, below which a variance
// says too little.
const fewest = 10

// Accuracy estimates the share of all rows that are right from those with labels: by [Powered],
// unless fewer than ten of these are right, or wrong, or the rows were drawn in several strata, which
// make of confidences what can be made of them. powered tells which. The interval is for the rows
// that were predicted, and narrows to nothing once all of them have labels.
//
// Each interval is Wilson's, of as many rows that were drawn from all as would have the estimate's
// variance; research/evaluation.md has what it was compared with, and how often it holds.
//
// There must be a stratum, and a labelled row in each. Without confidences, Expected and what was
// added to all are zeros. Accuracy panics where lengths do not fit, or if more rows have labels than
// there are.
func Accuracy(strata []Stratum, all Moments) (e Estimate, powered bool) {
	labelled := 0
	for _, s := range strata {
		labelled += len(s.Right)
	}
	if labelled > all.Rows {
		panic(fmt.Sprintf("evaluation: labels of %d rows of %d; Moments.Add is for each row that was predicted", labelled, all.Rows))
	}
	if s := strata[0]; len(strata) == 1 {
		n, right := float64(len(s.Right)), floats.Sum(s.Right)
		unknown := unknownShare(n, float64(all.Rows))
		m := Powered(s.Right, s.Expected, all)
		if p := m.Value; right >= fewest && n-right >= fewest && p > 0 && p < 1 {
			return Wilson(p, p*(1-p)/(m.Expected+m.Labelled)/unknown), true
		}
		return Wilson(right/n, n/unknown), false
	}
	p, smooth, variance := 0.0, 0.0, 0.0
	for _, s := range strata {
		n, right := float64(len(s.Right)), floats.Sum(s.Right)
		share := (right + 1) / (n + 2) // of a stratum without mistakes the variance is not 0
		p += s.Share * right / n
		smooth += s.Share * share
		variance += s.Share * s.Share * share * (1 - share) / n * unknownShare(n, s.Share*float64(all.Rows))
	}
	return Wilson(min(1, p), smooth*(1-smooth)/variance), false
}

// unknownShare is that of rows without a label.
func unknownShare(labelled, rows float64) float64 { return max(0, 1-labelled/rows) }

// Share estimates the share of rows that are right from some with labels, which need not be drawn
// with equal probabilities: each stands for as many as its weight says, itself among them. Both
// slices have n values, n > 0.
func Share(right, weights []float64) Estimate {
	sum := floats.Sum(weights)
	// Rows of equal weight that tell as much (Kish 1965), more as each tells nothing new of itself.
	rows := sum * sum / max(0, floats.Dot(weights, weights)-sum)
	return Wilson(min(1, floats.Dot(right, weights)/sum), rows)
}

// Wilson is the interval of Wilson (1927) of a share of so many rows, which need not be whole.
func Wilson(p, rows float64) Estimate {
	if math.IsInf(rows, 1) {
		return Estimate{p, p, p}
	}
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	shrunk := 1 + z*z/rows
	centre := (p + z*z/(2*rows)) / shrunk
	half := z / shrunk * math.Sqrt(p*(1-p)/rows+z*z/(4*rows*rows))
	return Estimate{p, max(0, min(p, centre-half)), min(1, max(p, centre+half))}
}
