package evaluation

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Pairs are what two classifiers make of the labelled rows of a stratum.
type Pairs struct {
	Share        float64 // of all rows that belong to the stratum
	Rows         int     // with labels
	Gained, Lost int     // those that only the first gets right, and only the second
}

// Difference is by how much more of all rows one classifier is right in than another.
type Difference struct {
	*Estimate     // nil of rows that are no random draw
	Gained    int `json:"gained"` // labelled rows that only the first gets right
	Lost      int `json:"lost"`   // that only the second does
	// P is the p-value of both being right equally often in all rows, whichever is better.
	P float64 `json:"p"`
}

// Compare compares two classifiers on the same of so many rows in all. There must be a labelled row in
// each stratum, and Share of all strata sums to 1.
//
// The interval has the variance of Agresti and Min (2005) in each stratum: half a row more is gained
// and half a row more is lost, so that no stratum has a variance of 0 unless all its rows have labels.
// Its centre is the difference of the labelled rows, not theirs, which is nearer to 0: it reaches a
// little further.
//
// P is the larger of two: that of this estimate, which is right for strata, and that of the exact sign
// test (McNemar 1947), which is right for few rows. It is 0 if the rows without labels are too few to
// undo the difference.
func Compare(strata []Pairs, rows int) Difference {
	d := Difference{Estimate: new(Estimate)}
	variance, unknown := 0.0, rows
	for _, s := range strata {
		n, gained, lost := float64(s.Rows), float64(s.Gained), float64(s.Lost)
		d.Gained, d.Lost, unknown = d.Gained+s.Gained, d.Lost+s.Lost, unknown-s.Rows
		d.Value += s.Share * (gained - lost) / n
		difference := (gained - lost) / (n + 2)
		variance += s.Share * s.Share / n * ((gained+lost+1)/(n+2) - difference*difference) * unknownShare(n, s.Share*float64(rows))
	}
	deviation := math.Sqrt(variance)
	half := distuv.UnitNormal.Quantile((1+level)/2) * deviation
	d.Low, d.High = max(-1, d.Value-half), min(1, d.Value+half)
	switch ahead := max(d.Gained-d.Lost, d.Lost-d.Gained); {
	case ahead == 0:
		d.P = 1
	case ahead > unknown:
		d.P = 0
	default:
		d.P = max(signTest(d.Gained, d.Lost), 2*distuv.UnitNormal.Survival(math.Abs(d.Value)/deviation))
	}
	return d
}

// Paired compares two classifiers on labelled rows alone, of which only the first gets some right,
// and only the second others.
func Paired(gained, lost int) Difference {
	return Difference{Gained: gained, Lost: lost, P: signTest(gained, lost)}
}

// signTest is the two-sided p-value of so many gains and losses being equally likely.
func signTest(gained, lost int) float64 {
	fair := distuv.Binomial{N: float64(gained + lost), P: 0.5}
	return min(1, 2*fair.CDF(float64(min(gained, lost))))
}
