package monitor

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest"
	"iwda/weightest/shifttest"
)

// Interval is an estimate with the ends between which the true number lies with some probability.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Estimate is what rows without labels tell of class shares, and of how often the classifier is right
// under label shift.
type Estimate struct {
	reference Reference
	theta     [][]float64 // k×bins: smoothed frequencies of each class
	rows      float64
	mixture   []float64 // of each bin, by the estimate
	shares    []float64
	inverse   *mat.Dense // of the information on shares that a row has, on the simplex; k×k
}

// Of estimates shares by maximum likelihood of the rows of each bin, which may be weighted. No rows are
// an error.
func (r Reference) Of(bins []float64) (*Estimate, error) {
	k, e := len(r), r.smoothed()
	if e.rows = floats.Sum(bins); !(e.rows > 0) {
		return nil, fmt.Errorf("no rows to estimate class shares from")
	}
	// Bins are rows that count as often as they have rows, to a millionth.
	prior := r.Shares()
	rows := &weightest.Rows{}
	target := make([]float64, k)
	for b, n := range bins {
		row := make([]float64, k)
		for class, share := range prior {
			row[class] = share * e.theta[class][b]
		}
		floats.Scale(1/floats.Sum(row), row)
		floats.AddScaled(target, n/e.rows, row)
		rows.Probabilities, rows.Counts = append(rows.Probabilities, row...), append(rows.Counts, int(math.Round(n)))
	}
	found, err := weightest.MLLS{Prior: prior, Pseudocount: weightest.Laplace}.Estimate(weightest.Problem{
		Confusion: mat.NewDense(k, k, nil), TargetPredictions: target, SourceDistribution: prior, Rows: rows,
	})
	if err != nil {
		return nil, err
	}
	return e, e.at(found.TargetDistribution)
}

// smoothed returns the estimate that has the frequencies of each class alone: a row of each is like all classes.
func (r Reference) smoothed() *Estimate {
	e, pooled := &Estimate{reference: r}, r.base()
	for _, row := range r {
		row := slices.Clone(row)
		floats.Add(row, pooled)
		floats.Scale(1/floats.Sum(row), row)
		e.theta = append(e.theta, row)
	}
	return e
}

// at sets the shares and what follows from them.
func (e *Estimate) at(shares []float64) error {
	e.shares = shares
	e.mixture = make([]float64, len(e.theta[0]))
	for class, share := range shares {
		floats.AddScaled(e.mixture, share, e.theta[class])
	}
	return e.invert()
}

// invert sets the inverse of the information among changes of shares that sum to 0.
func (e *Estimate) invert() error {
	k := len(e.shares)
	information := mat.NewSymDense(k, nil)
	for y := range k {
		for z := y; z < k; z++ {
			sum := 0.0
			for b, p := range e.mixture {
				sum += e.theta[y][b] * e.theta[z][b] / p
			}
			information.SetSym(y, z, sum)
		}
	}
	inverse, err := shifttest.InverseOnSimplex(information)
	if err != nil {
		return err
	}
	e.inverse = mat.DenseCopyOf(inverse)
	return nil
}

// influence returns by how much a target row of each bin, and a held-out one of each class and bin, moves
// a number Σ_y weights_y q_y + Σ_yb direct_yb q_y θ_yb, both times the rows that they are among.
func (e *Estimate) influence(weights []float64, direct func(class, bin int) float64) (target []float64, heldOut [][]float64) {
	k := len(e.shares)
	slope := slices.Clone(weights)
	for class := range k {
		for b, share := range e.theta[class] {
			slope[class] += direct(class, b) * share
		}
	}
	target = make([]float64, len(e.mixture))
	for class := range k {
		score := floats.DivTo(make([]float64, len(target)), e.theta[class], e.mixture) // the slope of a row's log-likelihood in the share
		floats.AddScaled(target, mat.Dot(mat.NewVecDense(k, slope), e.inverse.ColView(class)), score)
	}
	for class, share := range e.shares {
		row := make([]float64, len(target))
		for b := range row {
			row[b] = share * (direct(class, b) - target[b])
		}
		heldOut = append(heldOut, row)
	}
	return target, heldOut
}

// variance of a number with these influences.
func (e *Estimate) variance(target []float64, heldOut [][]float64) float64 {
	sum := spread(e.mixture, target) / e.rows
	for class, influence := range heldOut {
		sum += spread(e.theta[class], influence) / floats.Sum(e.reference[class])
	}
	return sum
}

// spread is the variance of values of probabilities p.
func spread(p, values []float64) float64 {
	mean, square := 0.0, 0.0
	for b, share := range p {
		mean, square = mean+share*values[b], square+share*values[b]*values[b]
	}
	return max(0, square-mean*mean)
}

func unit(k, class int) []float64 {
	weights := make([]float64, k)
	weights[class] = 1
	return weights
}

func nothing(int, int) float64 { return 0 }

// Shares returns the shares, each with an interval of that level: the normal approximation, with the chance of
// both samples. They are nobody's at any time: alarms are for that.
func (e *Estimate) Shares(level float64) (all []Interval) {
	for class, share := range e.shares {
		all = append(all, interval(share, e.variance(e.influence(unit(len(e.shares), class), nothing)), level, 0))
	}
	return all
}

// Accuracy returns how many of the classifier's own predictions are right under label shift, as Shares does.
func (e *Estimate) Accuracy(level float64) Interval {
	value := 0.0
	for class, share := range e.shares {
		for b, of := range e.theta[class] {
			value += share * of * rightly(class, b)
		}
	}
	return interval(value, e.variance(e.influence(make([]float64, len(e.shares)), rightly)), level, 0)
}

// Differences returns by how much the shares of e are above those of other, with intervals that hold for all
// classes at once with that probability (Bonferroni). If both were estimated by one reference, its chance
// counts once.
func (e *Estimate) Differences(other *Estimate, oneReference bool, level float64) (all []Interval) {
	k := len(e.shares)
	for class := range k {
		target, heldOut := e.influence(unit(k, class), nothing)
		others, othersHeldOut := other.influence(unit(k, class), nothing)
		var variance float64
		if oneReference {
			for class := range heldOut {
				floats.Sub(heldOut[class], othersHeldOut[class])
			}
			variance = e.variance(target, heldOut) + other.variance(others, nil)
		} else {
			variance = e.variance(target, heldOut) + other.variance(others, othersHeldOut)
		}
		all = append(all, interval(e.shares[class]-other.shares[class], variance, 1-(1-level)/float64(k), -1))
	}
	return all
}

// interval between least and 1.
func interval(value, variance, level, least float64) Interval {
	reach := distuv.UnitNormal.Quantile(1-(1-level)/2) * math.Sqrt(variance)
	return Interval{value, max(least, value-reach), min(1, value+reach)}
}

// Unexplained returns Pearson's statistic of the rows that were estimated from against the mixture of classes that
// explains them best, with the chance of the reference in its variance, and about its p-value: for these rows
// alone, as of many looks some are small by chance. It is 1 if too few bins have rows.
func (e *Estimate) Unexplained(bins []float64) (statistic, p float64) {
	degrees := -len(e.shares)
	for b, share := range e.mixture {
		if share*e.rows < 5 {
			continue
		}
		variance := share * (1 - share) / e.rows
		for class, q := range e.shares {
			of := e.theta[class][b]
			variance += q * q * of * (1 - of) / floats.Sum(e.reference[class])
		}
		degrees++
		difference := bins[b]/e.rows - share
		statistic += difference * difference / variance * (1 - share)
	}
	if degrees < 1 {
		return statistic, 1
	}
	return statistic, distuv.ChiSquared{K: float64(degrees)}.Survival(statistic)
}
