// Package monitor watches class shares, and what else can be known without labels, in batches of rows
// that come one after the other. Its alarms are right at all times at once: if nothing is wrong, the
// probability that one of them ever sounds is at most the level, however many batches there are.
//
// A row is known by its bin alone, its predicted class and a third of certainty. Each alarm watches the mean of
// some numbers of bins. The reference, held-out rows with labels, bounds these means as long as nothing is wrong:
// it is drawn once, so all bounds hold together, for all time, with probability 1 − level/2. Evidence that a mean is above
// its bound is a test supermartingale, so that it ever exceeds 2·alarms/level with a probability of at most
// level/(2·alarms) (Ville's inequality). docs/explanation/watch.md has the argument.
//
// gonum only; the same input gives the same bits.
package monitor

import (
	"fmt"
	"math"
	"slices"

	"iwda/internal/convert"

	"gonum.org/v1/gonum/floats"
)

// Reference are held-out rows by class and bin, k×(k·PerClass): bin = predicted class·PerClass + third,
// as shifttest.Bins has them. What the bins are must not depend on the rows that are counted.
type Reference [][]float64

// Shares returns the class shares of the rows (k).
func (r Reference) Shares() []float64 {
	shares := convert.Each(r, floats.Sum)
	floats.Scale(1/floats.Sum(shares), shares)
	return shares
}

// pooled returns the rows of all classes, by bin.
func (r Reference) pooled() []float64 {
	all := make([]float64, len(r[0]))
	for _, row := range r {
		floats.Add(all, row)
	}
	return all
}

// base returns the frequency of each bin, smoothed.
func (r Reference) base() []float64 {
	base := r.pooled()
	floats.AddConst(0.5, base)
	floats.Scale(1/floats.Sum(base), base)
	return base
}

// Kind is what an alarm watches for.
type Kind string

const (
	MoreChanged   Kind = "more changed"   // no class shares explain the rows
	SharesChanged Kind = "shares changed" // bins are not as frequent as in the reference or the first batches
	ShareAbove    Kind = "share above"    // a class's share is above a bound in some batches
	ShareBelow    Kind = "share below"
	AccuracyBelow Kind = "accuracy below" // that of the classifier's own predictions
)

// Alarm is something to watch for. All but MoreChanged are right as long as class shares are all that changes.
type Alarm struct {
	Kind  Kind
	Class int     // of ShareAbove and ShareBelow
	Bound float64 // likewise and of AccuracyBelow, between 0 and 1
	First int     // of SharesChanged: the number of first batches to compare with; 0 for the reference
}

// Monitor has the alarms over one reference.
type Monitor struct {
	alarms   []Alarm
	level    float64
	base     []float64     // of each bin: its frequency in the reference, smoothed
	watching [][]statistic // of each alarm
}

// New returns the monitor of alarms at a level, below 1. A class without a row, a bound or level that is none, and
// classes that there are not, are errors.
func New(reference Reference, alarms []Alarm, level float64) (*Monitor, error) {
	k := len(reference)
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("a level of %v; it must lie between 0 and 1", level)
	}
	for class, row := range reference {
		if floats.Sum(row) == 0 {
			return nil, fmt.Errorf("class %d has no held-out row", class)
		}
	}
	m := &Monitor{alarms: alarms, level: level, base: reference.base()}
	e := reference.smoothed()
	if err := e.at(reference.Shares()); err != nil {
		return nil, err
	}
	for _, alarm := range alarms {
		bound := alarm.Kind == ShareAbove || alarm.Kind == ShareBelow || alarm.Kind == AccuracyBelow
		if bound && !(alarm.Bound > 0 && alarm.Bound < 1) || alarm.Class < 0 || alarm.Class >= k || alarm.First < 0 {
			return nil, fmt.Errorf("no alarm of %d classes: %+v", k, alarm)
		}
		all := e.watching(alarm)
		for i := range all {
			all[i].most = alarm.most(reference, all[i].values, m.delta(all[i]))
		}
		m.watching = append(m.watching, all)
	}
	return m, nil
}

// delta is the probability with which a bound of the statistic's mean may miss: half of the level is for
// all of them together.
func (m *Monitor) delta(s statistic) float64 {
	return s.part * m.level / 2 / float64(len(m.alarms))
}

// Threshold is the logarithm of evidence from which on an alarm sounds.
func (m *Monitor) Threshold() float64 { return math.Log(2 * float64(len(m.alarms)) / m.level) }

// Begin returns the logarithms of the evidence that each alarm's experts begin with: one for each statistic and
// half-life, and a last one that stakes nothing.
func (m *Monitor) Begin() [][]float64 {
	logs := make([][]float64, len(m.watching))
	for alarm, all := range m.watching {
		each := 1 / float64(len(halfLives)+1)
		for _, s := range all {
			for range halfLives {
				logs[alarm] = append(logs[alarm], math.Log(each*s.part))
			}
		}
		logs[alarm] = append(logs[alarm], math.Log(each))
	}
	return logs
}

// Evidence is the logarithm of the evidence of an alarm.
func Evidence(logs []float64) float64 { return floats.LogSumExp(logs) }

// halfLives, in batches, are those of experts: a change that comes suddenly is learnt fast, a small one by many batches.
var halfLives = []float64{math.Inf(1), 8, 1}

// moved is the share of the evidence that is spread over an alarm's experts anew after each batch (Herbster
// and Warmuth 1998), so that no expert's losses are for ever.
const moved = 0.01

// Next returns the evidence after a batch, whose rows are counted by bin, after earlier ones. What is
// staked depends on the earlier batches and the reference alone.
func (m *Monitor) Next(logs [][]float64, earlier [][]float64, batch []float64) [][]float64 {
	next := make([][]float64, len(logs))
	begin := m.Begin()
	for i, all := range m.watching {
		alarm := m.alarms[i]
		next[i] = slices.Clone(logs[i])
		if len(earlier) <= alarm.First {
			continue
		}
		first := make([]float64, len(batch)) // with First, the reference
		for _, rows := range earlier[:alarm.First] {
			floats.Add(first, rows)
		}
		var expected [][]float64 // by each half-life
		for _, halfLife := range halfLives {
			expected = append(expected, m.expect(halfLife, earlier[alarm.First:]))
		}
		for at, s := range all {
			if alarm.First > 0 {
				s.most = alarm.most(Reference{first}, s.values, m.delta(s))
			}
			for j := range halfLives {
				next[i][at*len(halfLives)+j] += s.gain(expected[j], batch)
			}
		}
		spread := math.Log(moved) + floats.LogSumExp(next[i])
		for j, log := range next[i] {
			next[i][j] = floats.LogSumExp([]float64{math.Log(1-moved) + log, spread + begin[i][j]})
		}
	}
	return next
}

// expect returns the rows of each bin in batches of which earlier ones count less, and some as in the reference.
func (m *Monitor) expect(halfLife float64, earlier [][]float64) []float64 {
	seen := slices.Clone(m.base)
	floats.Scale(float64(len(seen)), seen)
	for i, rows := range earlier {
		floats.AddScaled(seen, math.Exp2(float64(i+1-len(earlier))/halfLife), rows)
	}
	return seen
}

// Pilot returns how many of a class's held-out rows say where bins end, and are not counted, so that the bins
// do not depend on those that are.
func Pilot(rows int) int { return min(rows/5, 10) }
