// Package intervals says how well class shares and weights are known, by the bootstrap of
// any estimator.
package intervals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a range of one number.
type Interval struct{ Low, High float64 }

// Intervals are ranges of k numbers, one a class.
type Intervals struct {
	// Each holds its class's number with the probability of the level.
	Each []Interval
	// Joint hold all k numbers at the same time with that probability. None is
	// narrower than that of Each.
	Joint []Interval
}

// Uncertainty is how well class weights and the target's class shares are known.
type Uncertainty struct {
	// Level is the probability that an interval holds the true number, such as 0.95.
	Level   float64
	Shares  Intervals // of the target's class shares q
	Weights Intervals // of the class weights q/p
	// Outside is the probability of the percentiles, one at each end, between which anything else lies with the
	// probability of the level that is computed from each resample.
	Outside float64
	// Warning is what to know before relying on the intervals; empty where nothing is.
	Warning string
}

// reach sets the upper ends to those of other intervals, and moves ends to estimates outside.
func (i Intervals) reach(other Intervals, estimates []float64) {
	for j, estimate := range estimates {
		i.Each[j] = Interval{min(i.Each[j].Low, estimate), max(other.Each[j].High, estimate)}
		i.Joint[j] = Interval{min(i.Joint[j].Low, estimate), max(other.Joint[j].High, estimate)}
	}
}

// widen moves the ends of the intervals apart by how far shares may be from the estimate's,
// for source shares p; ambiguity may be nil.
func (u *Uncertainty) widen(ambiguity, p []float64) {
	if ambiguity == nil {
		return
	}
	for j, by := range ambiguity {
		if by == 0 { // p may be 0 there too
			continue
		}
		for _, share := range []*Interval{&u.Shares.Each[j], &u.Shares.Joint[j]} {
			*share = Interval{max(0, share.Low-by), min(1, share.High+by)}
		}
		for _, weight := range []*Interval{&u.Weights.Each[j], &u.Weights.Joint[j]} {
			// Those of MLLS, which are over mean predictions, may be above 1/p.
			*weight = Interval{max(0, weight.Low-by/p[j]), max(weight.High, min(1/p[j], weight.High+by/p[j]))}
		}
	}
	u.warn("other class shares explain the predictions as well, whatever the number of rows: intervals are as wide as these may be apart")
}

// warn adds what to know to the warning.
func (u *Uncertainty) warn(text string) {
	if u.Warning != "" {
		u.Warning += "; "
	}
	u.Warning += text
}

// defaultLevel is the level of intervals whose settings name none.
const defaultLevel = 0.95

// drawnIntervals are the intervals between percentiles of the replicas' estimates, draws×k.
// No number is negative or above the upper bound.
//
// The joint intervals are m - t·s⁻ … m + t·s⁺ about the median m of a class, s⁻ and s⁺
// the root mean square deviations of the draws below and above it, and t the percentile
// of the draws' largest deviation in any class in these units.
//
// between is the reach, in standard errors of a normal distribution, of the percentiles of Each:
// see normalReach and percentileReach. widen takes a number of standard errors to the one by
// which the intervals of a class reach as far as they should; see resampledReach.
func drawnIntervals(draws [][]float64, level, upper, between float64, widen func(class int, reach float64) float64) Intervals {
	normal := distuv.UnitNormal
	k := len(draws[0])
	result := Intervals{Each: make([]Interval, k), Joint: make([]Interval, k)}
	median, below, above := make([]float64, k), make([]float64, k), make([]float64, k)
	values := make([]float64, len(draws))
	for j := range k {
		for i, draw := range draws {
			values[i] = draw[j]
		}
		slices.Sort(values)
		outside := normal.Survival(widen(j, between))
		result.Each[j] = Interval{percentile(values, outside), min(upper, percentile(values, 1-outside))}
		median[j] = percentile(values, 0.5)
		below[j], above[j] = deviations(values, median[j])
	}
	for i, draw := range draws {
		values[i] = 0
		for j, v := range draw {
			scale := above[j]
			if v < median[j] {
				scale = below[j]
			}
			if deviation := math.Abs(v - median[j]); deviation > 0 {
				values[i] = max(values[i], deviation/scale)
			}
		}
	}
	slices.Sort(values)
	reach := percentile(values, level)
	for j, each := range result.Each {
		reach := widen(j, reach)
		result.Joint[j] = Interval{
			min(each.Low, max(0, median[j]-reach*below[j])),
			max(each.High, min(upper, median[j]+reach*above[j])),
		}
	}
	return result
}

// shareIntervals are intervals of shares of resamples to which a calibration was fitted, draws×k,
// on the scale φ = arcsin √q. There the spread of an estimated share hardly depends on the share,
// as it does on that of q: an estimate that is too low, of a rare class, takes itself for too
// certain. A class's own interval reaches so many standard deviations of φ to both sides of its
// median; to 0, or 1, if so many of q reach so far, those of the side away from it, as estimates end there and
// the scale takes the rest for certain. The joint ones are those of drawnIntervals.
func shareIntervals(draws [][]float64, level float64, widen func(class int, reach float64) float64) Intervals {
	k, z := len(draws[0]), normalReach(level)
	angles := make([][]float64, len(draws))
	for i, draw := range draws {
		angles[i] = make([]float64, k)
		for j, q := range draw {
			angles[i][j] = math.Asin(math.Sqrt(min(1, q)))
		}
	}
	share := func(angle float64) float64 {
		sine := math.Sin(max(0, min(math.Pi/2, angle)))
		return sine * sine
	}
	result := drawnIntervals(angles, level, math.Pi/2, z, widen)
	values := make([]float64, len(draws))
	for j := range k {
		for i, angle := range angles {
			values[i] = angle[j]
		}
		slices.Sort(values)
		median, reach := percentile(values, 0.5), widen(j, z)*stat.PopStdDev(values, nil)
		joint := result.Joint[j]
		result.Each[j] = Interval{share(median - reach), share(median + reach)}
		for i, draw := range draws {
			values[i] = draw[j]
		}
		slices.Sort(values)
		median = percentile(values, 0.5)
		below, above := deviations(values, median)
		if median-widen(j, z)*above <= 0 {
			result.Each[j].Low = 0
		}
		if median+widen(j, z)*below >= 1 {
			result.Each[j].High = 1
		}
		result.Joint[j] = Interval{min(share(joint.Low), result.Each[j].Low), max(share(joint.High), result.Each[j].High)}
	}
	return result
}

// deviations returns the root mean square deviations from the median of the values below
// and of those above it, 0 where there are none.
func deviations(values []float64, median float64) (below, above float64) {
	var lower, higher float64
	for _, v := range values {
		d := v - median
		if d < 0 {
			below += d * d
			lower++
		} else if d > 0 {
			above += d * d
			higher++
		}
	}
	return math.Sqrt(below / max(1, lower)), math.Sqrt(above / max(1, higher))
}

// Percentile sorts draws, of which there must be one, and returns that of the probability.
func Percentile(draws []float64, probability float64) float64 {
	slices.Sort(draws)
	return percentile(draws, probability)
}

// percentile interpolates linearly between sorted values, the first of which is that of
// probability 0 and the last that of 1.
func percentile(sorted []float64, probability float64) float64 {
	position := probability * float64(len(sorted)-1)
	before := math.Floor(position)
	i := int(before)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (position-before)*(sorted[i+1]-sorted[i])
}

// normalReach is how many standard errors to either side hold the share of the level of a normal
// distribution.
func normalReach(level float64) float64 { return distuv.UnitNormal.Quantile((1 + level) / 2) }

// outsideDraws is the probability of the percentile below which another of n ≥ 2 draws lies as
// often as outside the level at one end. It is below the i-th of these with probability i/(n+1),
// where percentile has (i-1)/(n-1).
func outsideDraws(n int, level float64) float64 {
	return max(1e-9, ((1-level)/2*float64(n+1)-1)/float64(max(1, n-1)))
}

// percentileReach is how many standard errors of a normal distribution the percentiles of
// outsideDraws reach.
func percentileReach(n int, level float64) float64 {
	return -distuv.UnitNormal.Quantile(outsideDraws(n, level))
}

// studentReach is how many standard errors of a Student's t hold as much as z of a normal
// distribution. If it has many degrees of freedom it is by the expansion of Abramowitz and Stegun
// (26.7.5), as the quantile of distuv is wrong far out then.
func studentReach(degrees, z float64) float64 {
	if degrees > 100 {
		return z + z*(z*z+1)/(4*degrees) + z*((5*z*z+16)*z*z+3)/(96*degrees*degrees)
	}
	return -distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile(math.Erfc(z/math.Sqrt2) / 2)
}

// refittedReach is the reach of intervals of resamples to which a calibration was fitted. It
// rests on the source rows of which the classifier is not sure: their number is that of the
// degrees of freedom of a Student's t, at least five. If there are groups, those of a Student's t are
// at most theirs less one, and resamples spread as [resampledReach] has it.
func refittedReach(unsure, groups float64) func(class int, reach float64) float64 {
	return func(_ int, reach float64) float64 {
		if groups == 0 {
			return studentReach(max(5, unsure), reach)
		}
		groups := max(5, groups)
		return math.Sqrt(groups/(groups-1)) * studentReach(max(5, min(unsure, groups-1)), reach)
	}
}

// resampledReach is the reach of a bootstrap's intervals where a class has so many source
// rows. Resamples of n rows spread by √((n-1)/n) less than the errors of the estimate, and
// do not know that their spread is itself an estimate: a normal distribution's number of
// standard errors z becomes √(n/(n-1)) times Student's t of n-1 degrees of freedom with the
// same probability (Hesterberg 2015, expanded percentile intervals). Fewer than five rows
// count as five. Groups, if there are any, are another bound of their number.
func resampledReach(rows []float64, groups float64) func(class int, reach float64) float64 {
	return func(class int, reach float64) float64 {
		n := max(5, rows[class])
		if groups > 0 {
			n = max(5, min(n, groups))
		}
		return math.Sqrt(n/(n-1)) * studentReach(n-1, reach)
	}
}
