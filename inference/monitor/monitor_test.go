package monitor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
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

// alarmsOf are one of each kind.
func alarmsOf(k int) []Alarm {
	return []Alarm{{Kind: MoreChanged}, {Kind: ShareAbove, Class: k - 1, Bound: 0.2}, {Kind: ShareBelow, Bound: 0.5}, {Kind: AccuracyBelow, Bound: 0.8}, {Kind: SharesChanged}}
}

// largest is the largest mean of values under an alarm's hypothesis if the frequencies of each class are known.
func (a Alarm) largest(theta [][]float64, shares, values []float64) float64 {
	means, most := make([]float64, len(theta)), math.Inf(-1)
	for class, row := range theta {
		means[class] = floats.Dot(row, values)
	}
	switch a.Kind {
	case SharesChanged:
		return floats.Dot(shares, means)
	case MoreChanged:
		return floats.Max(means)
	case AccuracyBelow: // a vertex, or where an edge of the simplex crosses the bound
		right := make([]float64, len(theta))
		for class, row := range theta {
			right[class] = floats.Sum(row[3*class : 3*class+3])
		}
		for one := range theta {
			for other := range theta {
				for _, q := range []float64{0, (a.Bound - right[other]) / (right[one] - right[other])} {
					if q >= 0 && q <= 1 && q*right[one]+(1-q)*right[other] >= a.Bound-1e-12 {
						most = max(most, q*means[one]+(1-q)*means[other])
					}
				}
			}
		}
		return most
	}
	ends := []float64{0, a.Bound}
	if a.Kind == ShareBelow {
		ends[0] = 1
	}
	for class := range theta {
		for _, q := range ends {
			if class != a.Class {
				most = max(most, q*means[a.Class]+(1-q)*means[class])
			}
		}
	}
	return most
}

// The bounds of all means of an alarm hold together with their probability, though the values follow from the
// same held-out rows; and they are not far away.
func TestBoundsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	const draws, level = 500, 0.5
	all := make([]int, 5)
	for _, k := range []int{2, 3} {
		for _, n := range []int{5, 30, 300} {
			alarms, missed := alarmsOf(k), make([]int, 5)
			for range draws {
				r, theta := reference(random, k, n)
				m, err := New(r, alarms, level)
				if err != nil {
					t.Fatal(err)
				}
				for i, a := range alarms {
					for _, s := range m.watching[i] {
						if a.largest(theta, r.Shares(), s.values) > s.most {
							missed[i]++
							all[i]++
							break
						}
					}
				}
			}
			for i, a := range alarms {
				if allowed := level / 2 / 5; float64(missed[i]) > draws*allowed+3*math.Sqrt(draws*allowed) {
					t.Errorf("%d classes of %d rows, %s: bounds of %d of %d references miss, where %v may", k, n, a.Kind, missed[i], draws, allowed)
				}
			}
		}
	}
	if all[1] < 20 || all[2] < 20 {
		t.Errorf("bounds of shares miss in %v draws: they are too far away", all)
	}
}

// A bound is the largest mean of all mixtures of frequencies within the radius.
func TestBoundsAreTheLargestMeans(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for round := range 60 {
		r, _ := reference(random, 2, 20+10*round)
		values := make([]float64, 6)
		for b := range values {
			values[b] = random.NormFloat64()
		}
		share, within := random.Float64(), 1+4*random.Float64()
		most, found := r.mostOfTwo(0, 1, share, values, within), math.Inf(-1)
		for range 4000 {
			part := random.Float64()
			mean := share*floats.Dot(values, edge(random, r[0], values, part*within)) + (1-share)*floats.Dot(values, edge(random, r[1], values, (1-part)*within))
			found = max(found, mean)
		}
		if found > most+1e-9 || found < most-0.05 {
			t.Errorf("round %d: the bound is %v, and the largest mean found %v", round, most, found)
		}
	}
}

// edge returns frequencies as far from those of rows as the radius allows, towards large values.
func edge(random *rand.Rand, rows, values []float64, radius float64) []float64 {
	n := floats.Sum(rows)
	to, theta := make([]float64, len(rows)), make([]float64, len(rows))
	tilt := math.Exp(3 * random.NormFloat64())
	for b := range to {
		to[b] = rows[b]/n*math.Exp(tilt*values[b]) + 1e-3*random.Float64()
	}
	floats.Scale(1/floats.Sum(to), to)
	low, high := 0.0, 1.0 // shares of rows
	for range 40 {
		share, distance := (low+high)/2, 0.0
		for b := range theta {
			theta[b] = share*rows[b]/n + (1-share)*to[b]
			if rows[b] > 0 {
				distance += rows[b] * math.Log(rows[b]/n/theta[b])
			}
		}
		if distance <= radius {
			high = share
		} else {
			low = share
		}
	}
	for b := range theta {
		theta[b] = high*rows[b]/n + (1-high)*to[b]
	}
	return theta
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
		m, err := New(r, []Alarm{c.alarm}, 0.05)
		if err != nil {
			t.Fatal(err)
		}
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
	m, err := New(r, []Alarm{{Kind: AccuracyBelow, Bound: 0.85}}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
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
			e, err := r.Of(counts)
			if err != nil {
				t.Fatal(err)
			}
			return e
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
