package monitor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest/shifttest"
)

// statistic is a number that each row has by its bin. An alarm watches whether its mean is larger than it can be
// while the alarm's hypothesis holds.
type statistic struct {
	values []float64 // of each bin
	part   float64   // of the alarm's level and of its evidence at the beginning
	most   float64   // the largest mean under the hypothesis, by the reference
}

// watching returns what an alarm watches. Under label shift the mean is that of the alarm's number but for a
// constant, with the least variance among all numbers of bins of which this is true: see [Estimate.influence].
func (e *Estimate) watching(a Alarm) (all []statistic) {
	k, bins := len(e.shares), len(e.mixture)
	add := func(part, sign float64, values []float64) {
		values = slices.Clone(values)
		floats.Scale(sign, values)
		all = append(all, statistic{values: values, part: part})
	}
	both := func(part float64, values []float64) {
		add(part/2, 1, values)
		add(part/2, -1, values)
	}
	share := func(class int) []float64 {
		values, _ := e.influence(unit(k, class), nothing)
		return values
	}
	// unexplained is what is left of a number of bins whose mean is then 0 in each class.
	unexplained := func(of func(bin int) float64) []float64 {
		values, _ := e.influence(make([]float64, k), func(_, bin int) float64 { return of(bin) })
		mean := 0.0
		for b, p := range e.mixture {
			mean += p * of(b)
			values[b] = of(b) - values[b]
		}
		floats.AddConst(-mean, values)
		return values
	}
	switch a.Kind {
	case ShareAbove:
		add(1, 1, share(a.Class))
	case ShareBelow:
		add(1, -1, share(a.Class))
	case AccuracyBelow:
		values, _ := e.influence(make([]float64, k), rightly)
		add(1, -1, values)
	case SharesChanged:
		classes := k
		if k == 2 { // one goes down by as much as the other up
			classes = 1
		}
		for class := range classes {
			both(1/float64(classes), share(class))
		}
	case MoreChanged:
		// Half watches which thirds of certainty the rows are in, and half each bin by itself.
		thirds := func(of ...float64) []float64 {
			return unexplained(func(bin int) float64 { return of[bin%shifttest.PerClass] })
		}
		both(0.25, thirds(0, 0.5, 1))
		both(0.25, thirds(0, 1, 0))
		for bin := range bins {
			both(0.5/float64(bins), unexplained(func(b int) float64 { return indicator(b == bin) }))
		}
	}
	return all
}

// rightly is 1 for bins whose predicted class is the class.
func rightly(class, bin int) float64 { return indicator(bin/shifttest.PerClass == class) }

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// most returns the largest mean that values of bins have under the alarm's hypothesis, by rows of the reference:
// with probability 1 − delta, the true one is no larger.
func (a Alarm) most(reference Reference, values []float64, delta float64) float64 {
	if a.Kind == SharesChanged {
		return Reference{reference.pooled()}.mostOf(0, values, radius(delta))
	}
	most := math.Inf(-1)
	if a.Kind == MoreChanged {
		for class := range reference {
			most = max(most, reference.mostOf(class, values, radius(delta/float64(len(reference)))))
		}
		return most
	}
	if a.Kind == AccuracyBelow {
		// The values' mean and minus the accuracy differ by at most what they differ by in one class.
		for class := range reference {
			beyond := make([]float64, len(values))
			for b, v := range values {
				beyond[b] = v + rightly(class, b)
			}
			most = max(most, reference.mostOf(class, beyond, radius(delta/float64(len(reference)))))
		}
		return most - a.Bound
	}
	farthest := 0.0 // the share at the other end of what the hypothesis allows
	if a.Kind == ShareBelow {
		farthest = 1
	}
	for class := range reference {
		if class != a.Class {
			radius := radius(delta / float64(len(reference)-1))
			most = max(most, reference.mostOfTwo(a.Class, class, a.Bound, values, radius), reference.mostOfTwo(a.Class, class, farthest, values, radius))
		}
	}
	return most
}

// radius is how far true frequencies may be from those of held-out rows, as n·KL of nats, if a bound of one mean is to
// miss with probability δ. It lies halfway between Wilks's limit for many rows and Chernoff's bound: with the first, up
// to three times as many miss as should, with the second a third, as values follow from the same few rows
// (research/watch.md).
func radius(delta float64) float64 {
	z := distuv.UnitNormal.Quantile(1 - delta)
	return (z*z/2 - math.Log(delta)) / 2
}

// mostOf returns the largest mean of values in a class whose true frequencies θ are not far from those of its
// n held-out rows, n·KL(θ̂‖θ) ≤ radius.
func (r Reference) mostOf(class int, values []float64, radius float64) float64 {
	return r.mostOfTwo(class, class, 1, values, radius)
}

// mostOfTwo is mostOf for a mixture of two classes with a share of the first, if both divergences together are at
// most the radius.
func (r Reference) mostOfTwo(one, other int, share float64, values []float64, radius float64) float64 {
	mean := func(class int) func(part float64) float64 {
		rows, frequencies := floats.Sum(r[class]), slices.Clone(r[class])
		floats.Scale(1/rows, frequencies)
		return func(part float64) float64 { return mostMean(frequencies, values, part*radius/rows) }
	}
	switch share {
	case 0:
		return mean(other)(1)
	case 1:
		return mean(one)(1)
	}
	ofOne, ofOther := mean(one), mean(other)
	// It is concave in the part of the divergence that is the first class's.
	of := func(part float64) float64 {
		return -share*ofOne(part) - (1-share)*ofOther(1-part)
	}
	return -of(leastOf(of, 0, 1))
}

// gain is the logarithm by which a batch changes the evidence that the mean of the values is above the most, if
// rows of bins are expected as they are in another count. A row of bin b multiplies it by 1 + λ(values_b − most), whose
// mean is at most 1 under the hypothesis (Waudby-Smith and Ramdas 2024). λ is about the best for what is
// expected, and puts at most half of the evidence at stake.
func (s statistic) gain(expected, batch []float64) (gain float64) {
	total := floats.Sum(expected)
	mean := floats.Dot(expected, s.values) / total
	above := mean - s.most
	if above <= 0 {
		return 0
	}
	square := 0.0
	for b, rows := range expected {
		square += rows / total * (s.values[b] - mean) * (s.values[b] - mean)
	}
	lambda := min(above/(square+above*above), stake/(s.most-floats.Min(s.values)))
	for b, rows := range batch {
		gain += rows * math.Log1p(lambda*(s.values[b]-s.most))
	}
	return gain
}

// stake is the share of the evidence that is at risk with every row.
const stake = 0.5

// mostMean returns an upper bound of Σ θ_b v_b over all θ with KL(p‖θ) ≤ radius. For every c above all
// v, Jensen's inequality gives log Σ θ_b(c − v_b) ≥ Σ p_b log(c − v_b) − KL(p‖θ), and so
// Σ θ_b v_b ≤ c − exp(Σ p_b log(c − v_b) − radius): c is chosen to make this small.
func mostMean(p, v []float64, radius float64) float64 {
	most := floats.Max(v)
	spread := most - floats.Min(v)
	if math.IsInf(radius, 1) || spread == 0 {
		return most
	}
	if radius == 0 {
		return floats.Dot(p, v)
	}
	bound := func(c float64) (value, slope float64) {
		logs, inverse := 0.0, 0.0
		for b, share := range p {
			if share > 0 {
				logs += share * math.Log(c-v[b])
				inverse += share / (c - v[b])
			}
		}
		mean := math.Exp(logs - radius)
		return c - mean, 1 - mean*inverse
	}
	// The bound is convex in c: its slope changes sign once.
	low, high := most, most+spread
	for range 60 {
		if _, slope := bound(high); slope >= 0 {
			break
		}
		low, high = high, most+4*(high-most)
	}
	for range 30 {
		middle := (low + high) / 2
		if _, slope := bound(middle); slope >= 0 {
			high = middle
		} else {
			low = middle
		}
		if high-low < 1e-6*(high-most) {
			break
		}
	}
	value, _ := bound(high)
	return min(most, value)
}

// leastOf returns about where a convex function is least between two places.
func leastOf(f func(float64) float64, low, high float64) float64 {
	const golden = 0.6180339887498949
	a, b := high-golden*(high-low), low+golden*(high-low)
	atA, atB := f(a), f(b)
	for range 24 {
		if atA <= atB {
			b, atB, high = a, atA, b
			a = high - golden*(high-low)
			atA = f(a)
		} else {
			a, atA, low = b, atB, a
			b = low + golden*(high-low)
			atB = f(b)
		}
	}
	if edge := f(0); edge <= min(atA, atB) {
		return 0
	}
	return (low + high) / 2
}
