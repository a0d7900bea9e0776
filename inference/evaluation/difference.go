package evaluation

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/clusters"
)

// Difference is by how much more of all rows one classifier is right in than another.
type Difference struct {
	Estimate
	Gained int `json:"gained"` // labelled rows that only the first gets right
	Lost   int `json:"lost"`   // that only the second does
	// P is the p-value of both being right equally often in all rows, whichever is better.
	P float64 `json:"p"`
}

// Compare compares two classifiers by the same labelled rows, in the same order, of the same rows in all.
// The value is the difference of their accuracies, as [Accuracy] has them.
//
// The interval has the variance of Agresti and Min (2005): half a row more is gained
// and half a row more is lost, so that no variance is 0 unless all rows have labels.
// Its centre is the difference itself, not theirs, which is nearer to 0: it reaches a little further. If the
// accuracies rely on what is expected, so does the difference, row by row. among is that of [Accuracy].
//
// P is the larger of two: that of this estimate, and that of the exact sign
// test (McNemar 1947) of rows, or of groups, which is right for few. It is 0 if the rows without labels are
// too few to undo the difference.
func Compare(first, second Scores, among int) Difference {
	first.check()
	var d Difference
	ofFirst, lambda := first.value()
	ofSecond, other := second.value()
	d.Value = ofFirst - ofSecond
	n, grouped := float64(len(first.Right)), [2]int{}
	unknown := first.All.Rows - len(first.Right)
	r := make([]float64, len(first.Right))
	floats.SubTo(r, first.Right, second.Right)
	of, count := clusters.Dense(first.Groups, len(r))
	for _, sum := range clusters.Sums(r, of, count) {
		if sum > 0 {
			grouped[0]++
		} else if sum < 0 {
			grouped[1]++
		}
	}
	for _, v := range r {
		if v > 0 {
			d.Gained++
		} else if v < 0 {
			d.Lost++
		}
	}
	if lambda > 0 {
		floats.AddScaled(r, -lambda, first.Expected)
	}
	if other > 0 {
		floats.AddScaled(r, other, second.Expected)
	}
	mean := floats.Sum(r) / (n + 2)
	variance := (floats.Dot(r, r)+1)/(n+2) - mean*mean
	variance *= clusters.Inflation(r, first.Groups) / n * unknownShare(n, float64(first.All.Rows))
	deviation := math.Sqrt(variance)
	half := first.reach(among) * deviation
	d.Low, d.High = max(-1, d.Value-half), min(1, d.Value+half)
	switch ahead := max(d.Gained-d.Lost, d.Lost-d.Gained); {
	case ahead == 0 && d.Value == 0:
		d.P = 1
	case ahead > unknown:
		d.P = 0
	default:
		d.P = max(signTest(grouped[0], grouped[1]), 2*distuv.UnitNormal.Survival(math.Abs(d.Value)/deviation))
	}
	return d
}

// signTest is the two-sided p-value of so many gains and losses being equally likely.
func signTest(gained, lost int) float64 {
	fair := distuv.Binomial{N: float64(gained + lost), P: 0.5}
	return min(1, 2*fair.CDF(float64(min(gained, lost))))
}
