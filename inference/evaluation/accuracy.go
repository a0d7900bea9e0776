package evaluation

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/clusters"
)

// Scores are what labels say of one classifier's predictions: of the labelled rows, which were drawn from all at
// random without replacement, and what is expected of all rows. Without confidences, Expected and what was
// added to All are zeros.
type Scores struct {
	Right    []float64 // of each labelled row (n), 1 if it is right, 0 if not
	Expected []float64 // how likely that was without its label (n): its confidence
	// Groups say which rows belong together (n numbers), if whole groups were drawn: what counts then is
	// their number. nil: rows were drawn one by one.
	Groups []int
	All    Moments
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
// unless fewer than ten of these are right, or wrong. powered tells which. The interval is for the rows
// that were predicted, and narrows to nothing once all of them have labels.
//
// Each interval is Wilson's, of as many rows as would have the estimate's
// variance; research/evaluation.md has what it was compared with, and how often it holds. With
// among > 1 all intervals of so many such estimates hold together with the level (Bonferroni), as they must
// for the best of them, which the same labels chose.
//
// There must be a labelled row. Accuracy panics where lengths do not fit, or if more rows have labels than there are.
func Accuracy(s Scores, among int) (e Estimate, powered bool) {
	s.check()
	p, lambda := s.value()
	if lambda >= 0 && p > 0 && p < 1 {
		return wilson(p, p*(1-p)/s.variance(lambda), s.reach(among)), true
	}
	return s.counted(p, unknownShare(float64(len(s.Right)), float64(s.All.Rows)), among), false
}

// counted is the estimate by the number of labelled rows alone, p of which are right, if so many rows have no label: of each
// that has one there is less to learn.
func (s Scores) counted(p, unknown float64, among int) Estimate {
	rows := float64(len(s.Right)) / unknown / clusters.Inflation(s.Right, s.Groups)
	return wilson(p, rows, s.reach(among))
}

func (s Scores) check() {
	if len(s.Right) > s.All.Rows {
		panic(fmt.Sprintf("evaluation: labels of %d rows of %d; Moments.Add is for each row that was predicted", len(s.Right), s.All.Rows))
	}
}

// value returns the accuracy, and the λ by which it relies on what is expected; below 0, and the mean of
// the labelled rows, if it does not.
//
// The mean of what is expected of all rows is known. So λ is the slope of a regression, and not that of
// [Powered], which takes all rows for a draw from more of them.
func (s Scores) value() (p, lambda float64) {
	n, right := float64(len(s.Right)), floats.Sum(s.Right)
	p = right / n
	if right < fewest || n-right < fewest {
		return p, -1
	}
	lambda = min(1, Powered(s.Right, s.Expected, s.All).Lambda*(1+n/float64(s.All.Rows)))
	return p + lambda*(s.All.mean-floats.Sum(s.Expected)/n), lambda
}

// variance is that of the value with λ: of labelled rows less λ times what is expected.
func (s Scores) variance(lambda float64) float64 {
	n, r := float64(len(s.Right)), slices.Clone(s.Right)
	if lambda > 0 {
		floats.AddScaled(r, -lambda, s.Expected)
	}
	floats.AddConst(-floats.Sum(r)/n, r)
	return floats.Dot(r, r) / (n - 1) / n * clusters.Inflation(r, s.Groups) * unknownShare(n, float64(s.All.Rows))
}

// reach is how many standard errors intervals reach: of Student's t with the degrees of freedom of groups, if
// there are any.
func (s Scores) reach(among int) float64 {
	outside := (1 - level) / 2 / float64(max(1, among))
	if s.Groups != nil {
		return -distuv.StudentsT{Sigma: 1, Nu: clusters.Degrees(clusters.Inflation(s.Right, s.Groups), s.Groups, len(s.Right))}.Quantile(outside)
	}
	return -distuv.UnitNormal.Quantile(outside)
}

// unknownShare is that of rows without a label.
func unknownShare(labelled, rows float64) float64 { return max(0, 1-labelled/rows) }

// Share estimates the share of rows that are right by some of the labelled rows (n > 0 values), as those of a class, if so
// many of all rows have labels; groups are those of [Scores].
func Share(right []float64, groups []int, labelled, rows int) Estimate {
	s := Scores{Right: right, Groups: groups}
	return s.counted(stat.Mean(right, nil), unknownShare(float64(labelled), float64(rows)), 1)
}

// wilson is the interval of Wilson (1927) of a share of so many rows, which need not be whole, with z standard errors to both
// sides.
func wilson(p, rows, z float64) Estimate {
	if math.IsInf(rows, 1) {
		return Estimate{p, p, p}
	}
	shrunk := 1 + z*z/rows
	centre := (p + z*z/(2*rows)) / shrunk
	half := z / shrunk * math.Sqrt(p*(1-p)/rows+z*z/(4*rows*rows))
	return Estimate{p, max(0, min(p, centre-half)), min(1, max(p, centre+half))}
}
