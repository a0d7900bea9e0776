package monitor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// radius returns r so that n·KL(p̂‖p) ≤ r with probability 1 − δ, for frequencies p̂ of n rows in that
// many cells of probabilities p, whatever n and p. For two cells it is Chernoff's bound, on both sides. For
// more, the chain rule makes n·KL(p̂‖p) a sum over cells − 1 splits in two, and Markov's inequality is
// applied to its moment generating function: that of a split is at most [excess]/√(1−t), where its limit
// for many rows has 1/√(1−t) and Agrawal (2019) proves 1/(1−t).
func radius(cells int, delta float64) float64 {
	least := math.Inf(1)
	switch cells {
	case 1:
		return 0
	case 2:
		least = math.Log(2 / delta)
	}
	for t := 0.05; t < 0.95; t += 0.01 {
		logMoment := math.Log(excess) - math.Log1p(-t)/2
		least = min(least, (float64(cells-1)*logMoment-math.Log(delta))/t)
	}
	return least
}

// excess bounds √(1−t)·E exp(t·n·KL(p̂‖p)) for two cells: over all n ≤ 5000 and p of a fine grid it is largest,
// 1.103, for 15 rows in cells of one half (research/watch.md).
const excess = 1.11

// null is a convex set of distributions over cells: mixtures of classes, each of which lies in a
// ball around its frequencies among held-out rows.
type null struct {
	observed [][]float64 // k×cells: the frequencies of each class, sum 1
	radii    []float64   // k: of KL(observed‖·); +Inf for a class without a row
	// The share of class lies between low and high.
	class     int
	low, high float64
	// Where right is not nil, the mixture's cells in which the class y is predicted rightly,
	// right[y], have at least the probability least.
	right [][]bool
	least float64
	start []float64 // k: shares to begin with
}

// support returns an upper bound of the mean of values (of each cell) under all distributions of the
// null, by duality, so that it holds however far it is from the least one.
func (n null) support(values []float64) float64 {
	if n.right == nil {
		return n.mixtures(func(class int) float64 { return mostMean(n.observed[class], values, n.radii[class]) })
	}
	// For every μ ≥ 0, E g ≤ E g + μ(P(right) − least).
	moved := make([]float64, len(values))
	with := func(mu float64) float64 {
		return n.mixtures(func(class int) float64 {
			for cell, v := range values {
				moved[cell] = v - mu*n.least
				if n.right[class][cell] {
					moved[cell] += mu
				}
			}
			return mostMean(n.observed[class], moved, n.radii[class])
		})
	}
	return with(leastOf(with, 0, 4*floats.Max(values)))
}

// mixtures returns the largest Σ q_y of(y) over the shares that the null allows.
func (n null) mixtures(of func(class int) float64) float64 {
	ofClass, others := 0.0, math.Inf(-1)
	for class := range n.observed {
		if value := of(class); class == n.class {
			ofClass = value
		} else {
			others = max(others, value)
		}
	}
	if len(n.observed) == 1 {
		return ofClass
	}
	return max(n.low*ofClass+(1-n.low)*others, n.high*ofClass+(1-n.high)*others)
}

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

// project returns about the distribution of the null that is nearest to p in KL(p‖·), and how far it
// is, by alternating minimisation between joint distributions of class and cell with the marginal p
// and those of the null (Csiszár and Tusnády 1984).
func (n null) project(p []float64) (nearest []float64, distance float64) {
	const steps, small = 60, 1e-7
	k, cells := len(n.observed), len(p)
	q := slices.Clone(n.start)
	theta, joint := make([][]float64, k), make([]float64, cells)
	for class, row := range n.observed {
		theta[class] = make([]float64, cells)
		for b := range row { // inside the ball, and nowhere 0
			const away = 1e-3
			theta[class][b] = (1-away)*row[b] + away*p[b]
		}
	}
	nearest = make([]float64, cells)
	before := math.Inf(1)
	for range steps {
		clear(nearest)
		for class, share := range q {
			floats.AddScaled(nearest, share, theta[class])
		}
		distance = divergence(p, nearest)
		if distance < small || before-distance < small {
			break
		}
		before = distance
		ratio := make([]float64, cells)
		floats.DivTo(ratio, p, nearest)
		tilt := n.tilt(q, theta, ratio)
		for class, share := range q {
			sum := 0.0
			for b := range cells {
				joint[b] = share * theta[class][b] * ratio[b]
				if n.right != nil {
					joint[b] /= 1 - tilt*(indicator(n.right[class][b])-n.least)
				}
				sum += joint[b]
			}
			q[class] = sum
			if sum > 0 {
				floats.Scale(1/sum, joint)
				towards(theta[class], joint, n.observed[class], n.radii[class])
			}
		}
		n.allow(q)
	}
	return nearest, distance
}

// allow moves shares to those that the null allows.
func (n null) allow(q []float64) {
	floats.Scale(1/floats.Sum(q), q)
	share := q[n.class]
	to := min(max(share, n.low), n.high)
	if to == share || share == 1 {
		return
	}
	for class := range q {
		q[class] *= (1 - to) / (1 - share)
	}
	q[n.class] = to
}

// tilt returns the multiplier t of the constraint on right cells: joint probabilities divided by
// 1 − t(right − least) meet it. It is 0 where they do without.
func (n null) tilt(q []float64, theta [][]float64, ratio []float64) float64 {
	if n.right == nil {
		return 0
	}
	right := 0.0
	for class, share := range q {
		for b, is := range n.right[class] {
			if is {
				right += share * theta[class][b] * ratio[b]
			}
		}
	}
	if right >= n.least || right <= 0 {
		return 0
	}
	// right/(1 − t(1−least)) : (1−right)/(1 + t·least) as least : 1 − least.
	return (n.least - right) / (n.least * (1 - n.least))
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// towards sets theta to the point nearest to the distribution to on the way there from the middle of
// the ball that is still inside.
func towards(theta, to, middle []float64, radius float64) {
	set := func(share float64) {
		for b := range theta {
			theta[b] = (1-share)*to[b] + share*middle[b]
		}
	}
	set(0)
	if divergence(middle, theta) <= radius {
		return
	}
	low, high := 0.0, 1.0
	for range 18 {
		share := (low + high) / 2
		if set(share); divergence(middle, theta) <= radius {
			high = share
		} else {
			low = share
		}
	}
	set(high)
}

// divergence is KL(p‖m).
func divergence(p, m []float64) (sum float64) {
	for b, share := range p {
		if share > 0 {
			sum += share * math.Log(share/m[b])
		}
	}
	return sum
}

// bet returns by what a row of each cell multiplies the evidence against the null, if p is what is
// expected of rows: nil for 1 in all cells. Under every distribution of the null the mean is at most 1,
// however p was found and however near the projection is, because the values are divided by an upper
// bound of their mean. p/m, m being the exact projection, is the best choice for p (reverse
// information projection; Grünwald, de Heide and Koolen 2024). Half of what there is is staked.
func (n null) bet(p []float64) []float64 {
	const idle = 1e-5 // nats a row
	nearest, distance := n.project(p)
	if distance < idle {
		return nil
	}
	values := make([]float64, len(p))
	floats.DivTo(values, p, nearest)
	bound := n.support(values)
	for b := range values {
		values[b] = 1 + stake*(values[b]/bound-1)
	}
	return values
}

// stake is the share of the evidence that is at risk with every row.
const stake = 0.5
