// Package monitor watches class shares, and what else can be known without labels, in batches of rows
// that come one after the other. Its alarms are right at all times at once: if nothing is wrong, the
// probability that one of them ever sounds is at most the level, however many batches there are.
//
// A row is known by its bin alone, its predicted class and a third of certainty. The reference, held-out
// rows with labels, says how often each class has which bin. It is drawn once: with probability
// 1 − level/2 the true frequencies of all classes lie in regions around it, and all else holds for every
// point of these regions. Evidence against what an alarm watches for is a test supermartingale for each
// of these points, so that it ever exceeds 2·alarms/level with a probability of at most level/(2·alarms)
// (Ville's inequality). docs/explanation/watch.md has the argument.
//
// gonum only; the same input gives the same bits.
package monitor

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/weightest/shifttest"
)

// Reference are held-out rows by class and bin, k×(k·PerClass): bin = predicted class·PerClass + third,
// as shifttest.Bins has them. What the bins are must not depend on the rows that are counted.
type Reference [][]float64

// Shares returns the class shares of the rows (k).
func (r Reference) Shares() []float64 {
	shares := make([]float64, len(r))
	for class, row := range r {
		shares[class] = floats.Sum(row)
	}
	floats.Scale(1/floats.Sum(shares), shares)
	return shares
}

// rows returns those of all classes, by bin.
func (r Reference) rows() []float64 {
	all := make([]float64, len(r)*shifttest.PerClass)
	for _, row := range r {
		floats.Add(all, row)
	}
	return all
}

// base returns the frequency of each bin, smoothed.
func (r Reference) base() []float64 {
	base := r.rows()
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
	alarms  []Alarm
	level   float64
	base    []float64  // of each bin: its frequency in the reference, smoothed
	experts [][]expert // of each alarm; the first stakes nothing
}

// expert stakes the evidence of an alarm by what earlier batches lead it to expect.
type expert struct {
	cells  []int // of each bin; nil stakes nothing
	number int   // of cells
	null
	halfLife float64 // of batches in what it expects, in batches; +Inf for all alike
	delta    float64 // probability that its regions miss
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
	regions := map[string]bool{} // each for all classes, at the same level
	for _, alarm := range alarms {
		for _, view := range alarm.views(k) {
			regions[alarm.region(view)] = true
		}
	}
	for _, alarm := range alarms {
		bound := alarm.Kind == ShareAbove || alarm.Kind == ShareBelow || alarm.Kind == AccuracyBelow
		if bound && !(alarm.Bound > 0 && alarm.Bound < 1) || alarm.Class < 0 || alarm.Class >= k || alarm.First < 0 {
			return nil, fmt.Errorf("no alarm of %d classes: %+v", k, alarm)
		}
		experts := []expert{{}}
		for _, view := range alarm.views(k) {
			for _, halfLife := range halfLives {
				e := expert{cells: view, number: slices.Max(view) + 1, halfLife: halfLife, delta: level / 2 / float64(len(regions))}
				e.null = alarm.null(reference, e)
				experts = append(experts, e)
			}
		}
		m.experts = append(m.experts, experts)
	}
	return m, nil
}

// views returns the partitions of bins by which an alarm looks at rows, a cell for each bin: few cells
// are known well, many tell more.
func (a Alarm) views(k int) [][]int {
	view := func(of func(class, third int) int) []int {
		cells := make([]int, k*shifttest.PerClass)
		for bin := range cells {
			cells[bin] = of(bin/shifttest.PerClass, bin%shifttest.PerClass)
		}
		return cells
	}
	all := view(func(class, third int) int { return class*shifttest.PerClass + third })
	predicted := view(func(class, _ int) int { return class })
	switch {
	case a.Kind == MoreChanged:
		return [][]int{all, view(func(_, third int) int { return third })}
	case a.Kind == SharesChanged:
		return [][]int{predicted, all}
	case a.Kind == AccuracyBelow || k == 2:
		return [][]int{predicted, all}
	}
	return [][]int{view(func(class, _ int) int {
		if class == a.Class {
			return 1
		}
		return 0
	}), predicted, all}
}

// region names what a region is about: those of a name are one.
func (a Alarm) region(view []int) string {
	if a.Kind == SharesChanged {
		return fmt.Sprint(view, "all classes", a.First)
	}
	return fmt.Sprint(view)
}

// null is what an alarm's evidence is against, in an expert's cells.
func (a Alarm) null(reference Reference, e expert) null {
	k := len(reference)
	if a.Kind == SharesChanged {
		return e.around([][]float64{reference.rows()})
	}
	n := e.around(reference)
	n.start = reference.Shares()
	switch a.Kind {
	case ShareAbove:
		n.class, n.high = a.Class, a.Bound
	case ShareBelow:
		n.class, n.low = a.Class, a.Bound
	case AccuracyBelow:
		n.least = a.Bound
		for class := range k {
			right := make([]bool, e.number)
			for bin, cell := range e.cells {
				right[cell] = bin/shifttest.PerClass == class
			}
			n.right = append(n.right, right)
		}
	}
	return n
}

// around returns the null of all mixtures of the rows of some classes (by bin).
func (e expert) around(rows [][]float64) null {
	n := null{high: 1, start: slices.Repeat([]float64{1 / float64(len(rows))}, len(rows))}
	for _, row := range rows {
		counts := e.count(row)
		total := floats.Sum(counts)
		reach := math.Inf(1)
		if total > 0 {
			reach = radius(e.number, e.delta/float64(len(rows))) / total
			floats.Scale(1/total, counts)
		}
		n.observed, n.radii = append(n.observed, counts), append(n.radii, reach)
	}
	return n
}

// count returns the rows of each cell from those of each bin.
func (e expert) count(bins []float64) []float64 {
	cells := make([]float64, e.number)
	for bin, rows := range bins {
		cells[e.cells[bin]] += rows
	}
	return cells
}

// Threshold is the logarithm of evidence from which on an alarm sounds.
func (m *Monitor) Threshold() float64 { return math.Log(2 * float64(len(m.alarms)) / m.level) }

// Begin returns the logarithms of the evidence that each alarm's experts begin with.
func (m *Monitor) Begin() [][]float64 {
	logs := make([][]float64, len(m.experts))
	for alarm, experts := range m.experts {
		logs[alarm] = slices.Repeat([]float64{-math.Log(float64(len(experts)))}, len(experts))
	}
	return logs
}

// Evidence is the logarithm of the evidence of an alarm.
func Evidence(logs []float64) float64 { return floats.LogSumExp(logs) }

// halfLives are those of experts: a change that comes suddenly is learnt fast, a small one by many batches.
var halfLives = []float64{math.Inf(1), 8, 1}

// moved is the share of the evidence that is spread over an alarm's experts anew after each batch (Herbster
// and Warmuth 1998), so that no expert's losses are for ever.
const moved = 0.01

// Next returns the evidence after a batch, whose rows are counted by bin, after earlier ones. What is
// staked depends on the earlier batches and the reference alone.
func (m *Monitor) Next(logs [][]float64, earlier [][]float64, batch []float64) [][]float64 {
	next := make([][]float64, len(logs))
	for i, experts := range m.experts {
		alarm := m.alarms[i]
		next[i] = slices.Clone(logs[i])
		if len(earlier) <= alarm.First {
			continue
		}
		for j, e := range experts {
			if e.cells != nil {
				next[i][j] += m.gain(e, alarm, earlier, batch)
			}
		}
		spread := math.Log(moved) + floats.LogSumExp(next[i]) - math.Log(float64(len(experts)))
		for j, log := range next[i] {
			next[i][j] = floats.LogSumExp([]float64{math.Log(1-moved) + log, spread})
		}
	}
	return next
}

// gain is the logarithm by which an expert's evidence changes.
func (m *Monitor) gain(e expert, alarm Alarm, earlier [][]float64, batch []float64) (gain float64) {
	if alarm.First > 0 { // the first batches are the reference
		first := make([]float64, len(batch))
		for _, rows := range earlier[:alarm.First] {
			floats.Add(first, rows)
		}
		e.null = e.around([][]float64{first})
		earlier = earlier[alarm.First:]
	}
	expected := m.expect(e, earlier)
	factors := e.bet(expected)
	if factors == nil {
		return 0
	}
	for cell, rows := range e.count(batch) {
		gain += rows * math.Log(factors[cell])
	}
	return gain
}

// expect returns the frequencies of an expert's cells that it expects.
func (m *Monitor) expect(e expert, earlier [][]float64) []float64 {
	seen := make([]float64, len(m.base))
	for i, rows := range earlier {
		floats.AddScaled(seen, math.Exp2(float64(i+1-len(earlier))/e.halfLife), rows)
	}
	expected := e.count(seen)
	floats.AddScaled(expected, float64(e.number), e.count(m.base))
	floats.Scale(1/floats.Sum(expected), expected)
	return expected
}

// Pilot returns how many of a class's held-out rows say where bins end, and are not counted, so that the bins
// do not depend on those that are.
func Pilot(rows int) int { return min(rows/5, 10) }
