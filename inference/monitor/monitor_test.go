package monitor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/must"
)

// drawnFrom draws n rows of probabilities p.
func drawnFrom(random *rand.Rand, n int, p []float64) []float64 {
	counts := make([]float64, len(p))
	for range n {
		at, left := 0, random.Float64()
		for at < len(p)-1 && left >= p[at] {
			left -= p[at]
			at++
		}
		counts[at]++
	}
	return counts
}

// simplexPoint is any point of a simplex, some near its edge.
func simplexPoint(random *rand.Rand, n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = math.Pow(random.Float64(), 3) + 1e-6
	}
	floats.Scale(1/floats.Sum(p), p)
	return p
}

// The moment generating function of a split's n·KL(p̂‖p) is at most excess/√(1−t): exactly, for all
// numbers of rows up to 60 and many probabilities.
func TestExcessBoundsTheMoments(t *testing.T) {
	largest := 0.0
	for n := 1; n <= 60; n++ {
		for i := 1; i <= 200; i++ {
			p := 0.5 * math.Pow(float64(i)/200, 2)
			for _, at := range []float64{0.3, 0.6, 0.85, 0.94} {
				sum := 0.0
				for x := range n + 1 {
					share := float64(x) / float64(n)
					logs := lchoose(n, x) + float64(x)*math.Log(p) + float64(n-x)*math.Log1p(-p)
					sum += math.Exp(logs + at*float64(n)*divergence([]float64{share, 1 - share}, []float64{p, 1 - p}))
				}
				largest = max(largest, sum*math.Sqrt(1-at))
			}
		}
	}
	if largest > excess || largest < 1.05 {
		t.Errorf("the largest is %v, and the constant %v", largest, excess)
	}
}

func lchoose(n, x int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(x + 1))
	c, _ := math.Lgamma(float64(n - x + 1))
	return a - b - c
}

// Regions of few and of many cells hold with their probability, if rows are few too.
func TestRegionsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	const draws, delta = 4000, 0.05
	for _, cells := range []int{2, 3, 6, 30} {
		for _, n := range []int{5, 30, 300} {
			missed, r := 0, radius(cells, delta)
			for range draws {
				p := simplexPoint(random, cells)
				if cells%2 == 0 {
					p = slices.Repeat([]float64{1 / float64(cells)}, cells)
				}
				counts := drawnFrom(random, n, p)
				floats.Scale(1/float64(n), counts)
				if float64(n)*divergence(counts, p) > r {
					missed++
				}
			}
			if missed > draws*delta {
				t.Errorf("%d cells, %d rows: %d of %d regions miss", cells, n, missed, draws)
			}
		}
	}
}

// reference draws held-out rows of k classes that are mostly predicted as themselves.
func reference(random *rand.Rand, k, rows int) (Reference, [][]float64) {
	r, theta := Reference{}, [][]float64{}
	for class := range k {
		p := simplexPoint(random, 3*k)
		floats.Scale(0.3, p)
		for third := range 3 {
			p[3*class+third] += 0.7 * float64(third+1) / 6
		}
		theta = append(theta, p)
		r = append(r, drawnFrom(random, rows, p))
	}
	return r, theta
}

// No distribution of a null, a mixture of points of the regions that its bound allows, makes a bet
// worth more than 1 on average, whatever the bet expects. This is all that alarms rest on.
func TestNoBetGainsUnderItsNull(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	tight := 0.0
	for round := range 150 {
		k := 2 + round%3
		r, _ := reference(random, k, 20+round)
		alarms := []Alarm{{Kind: MoreChanged}, {Kind: ShareAbove, Class: round % k, Bound: 0.2}, {Kind: ShareBelow, Bound: 0.5}, {Kind: AccuracyBelow, Bound: 0.85}, {Kind: SharesChanged}}
		m := must.Have(New(r, alarms, 0.05))(t)
		for i, experts := range m.experts {
			for _, e := range experts[1:] {
				factors := e.bet(simplexPoint(random, e.number))
				if factors == nil {
					continue
				}
				for range 30 {
					mean, allowed := e.somewhere(random)
					if !allowed {
						continue
					}
					gain := floats.Dot(mean, factors)
					if tight = max(tight, gain); gain > 1+1e-9 || floats.Min(factors) < 0 {
						t.Fatalf("%v: a row gains %v under its null", alarms[i], gain)
					}
				}
			}
		}
	}
	if tight < 0.98 {
		t.Errorf("the most is %v: bets are given away", tight)
	}
}

// somewhere is a mixture that the null allows, of points at the edges of regions.
func (n null) somewhere(random *rand.Rand) (mean []float64, allowed bool) {
	q := simplexPoint(random, len(n.observed))
	n.allow(q)
	mean = make([]float64, len(n.observed[0]))
	right := 0.0
	for class, row := range n.observed {
		theta := make([]float64, len(row))
		corner := make([]float64, len(row))
		corner[random.IntN(len(row))] = 1
		floats.AddScaledTo(corner, simplexPoint(random, len(row)), 3, corner)
		floats.Scale(1/floats.Sum(corner), corner)
		towards(theta, corner, row, n.radii[class])
		floats.AddScaled(mean, q[class], theta)
		for cell := range theta {
			if n.right != nil && n.right[class][cell] {
				right += q[class] * theta[cell]
			}
		}
	}
	return mean, n.right == nil || right >= n.least
}

// run watches batches whose rows have these class shares, and returns the first that sounds each alarm.
func run(t *testing.T, random *rand.Rand, m *Monitor, theta func(batch int) [][]float64, shares func(batch int) []float64, batches int) []int {
	t.Helper()
	first := slices.Repeat([]int{-1}, len(m.alarms))
	logs, earlier := m.Begin(), [][]float64(nil)
	for batch := range batches {
		var counts []float64
		for class, share := range shares(batch) {
			drawn := drawnFrom(random, int(500*share), theta(batch)[class])
			if counts == nil {
				counts = make([]float64, len(drawn))
			}
			floats.Add(counts, drawn)
		}
		logs = m.Next(logs, earlier, counts)
		earlier = append(earlier, counts)
		for i := range first {
			if first[i] < 0 && Evidence(logs[i]) >= m.Threshold() {
				first[i] = batch
			}
		}
	}
	return first
}

// What changes sounds its alarm soon after it changes, and nothing before.
func TestAlarmsSound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	r, theta := reference(random, 2, 3000)
	other := [][]float64{theta[1], simplexPoint(random, 6)}
	other[0] = slices.Repeat([]float64{1. / 6}, 6)
	for name, c := range map[string]struct {
		alarm  Alarm
		theta  [][]float64 // from batch 10 on
		shares []float64   // likewise
	}{
		"more":          {Alarm{Kind: MoreChanged}, other, []float64{0.5, 0.5}},
		"share above":   {Alarm{Kind: ShareAbove, Class: 1, Bound: 0.6}, theta, []float64{0.1, 0.9}},
		"share below":   {Alarm{Kind: ShareBelow, Class: 1, Bound: 0.4}, theta, []float64{0.9, 0.1}},
		"changed":       {Alarm{Kind: SharesChanged}, theta, []float64{0.7, 0.3}},
		"changed after": {Alarm{Kind: SharesChanged, First: 5}, theta, []float64{0.7, 0.3}},
	} {
		m := must.Have(New(r, []Alarm{c.alarm}, 0.05))(t)
		first := run(t, random, m, func(batch int) [][]float64 {
			if batch >= 10 {
				return c.theta
			}
			return theta
		}, func(batch int) []float64 {
			if batch >= 10 {
				return c.shares
			}
			return []float64{0.5, 0.5}
		}, 30)
		if first[0] < 10 || first[0] > 20 {
			t.Errorf("%s: sounds after batch %d; it changed with 10", name, first[0])
		}
	}
}

// A classifier that errs more often on one class is less often right if there is more of it.
func TestAccuracyAlarm(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	good, bad := []float64{0.05, 0.25, 0.65, 0.02, 0.02, 0.01}, []float64{0.2, 0.15, 0.05, 0.2, 0.2, 0.2}
	theta := [][]float64{good, bad}
	r := Reference{drawnFrom(random, 5000, good), drawnFrom(random, 5000, bad)}
	m := must.Have(New(r, []Alarm{{Kind: AccuracyBelow, Bound: 0.85}}, 0.05))(t)
	first := run(t, random, m, func(int) [][]float64 { return theta }, func(batch int) []float64 {
		if batch >= 10 {
			return []float64{0.4, 0.6}
		}
		return []float64{0.9, 0.1}
	}, 30)
	if first[0] < 10 || first[0] > 20 {
		t.Errorf("sounds after batch %d; accuracy fell with 10", first[0])
	}
}

// Intervals of shares, accuracy and differences hold about as often as they say.
func TestIntervalsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	_, theta := reference(random, 3, 10)
	q, p := []float64{0.2, 0.3, 0.5}, []float64{0.4, 0.3, 0.3}
	accuracy := 0.0
	for class, share := range q {
		accuracy += share * floats.Sum(theta[class][3*class:3*class+3])
	}
	held := make([]int, 3)
	const rounds = 300
	for range rounds {
		var r Reference
		for class := range theta {
			r = append(r, drawnFrom(random, 400, theta[class]))
		}
		estimate := func(q []float64) *Estimate {
			counts := make([]float64, 9)
			for class, share := range q {
				floats.Add(counts, drawnFrom(random, int(800*share), theta[class]))
			}
			return must.Have(r.Of(counts))(t)
		}
		a, b := estimate(q), estimate(p)
		in := func(which int, i Interval, truth float64) {
			if i.Low <= truth && truth <= i.High {
				held[which]++
			}
		}
		in(0, a.Shares(0.9)[0], q[0])
		in(1, a.Accuracy(0.9), accuracy)
		all := true
		for class, i := range b.Differences(a, true, 0.9) {
			all = all && i.Low <= p[class]-q[class] && p[class]-q[class] <= i.High
		}
		if all {
			held[2]++
		}
	}
	// Batches have exact numbers of each class here, so that intervals are a little too wide.
	for which, n := range held {
		if share := float64(n) / rounds; share < 0.85 || share > 0.995 {
			t.Errorf("interval %d holds in %v of cases, and says 0.9", which, share)
		}
	}
}

func TestWrongAlarms(t *testing.T) {
	r, _ := reference(rand.New(rand.NewPCG(6, 6)), 2, 50)
	for _, a := range []Alarm{{Kind: ShareAbove, Class: 2, Bound: 0.5}, {Kind: ShareBelow, Bound: 1}, {Kind: AccuracyBelow}, {Kind: SharesChanged, First: -1}} {
		if _, err := New(r, []Alarm{a}, 0.05); err == nil {
			t.Errorf("%+v is no error", a)
		}
	}
	if _, err := New(r, nil, 1); err == nil {
		t.Error("a level of 1 is no error")
	}
	if _, err := New(Reference{r[0], make([]float64, 6)}, nil, 0.05); err == nil {
		t.Error("a class without rows is no error")
	}
	if _, err := r.Of(make([]float64, 6)); err == nil {
		t.Error("no rows are no error")
	}
}
