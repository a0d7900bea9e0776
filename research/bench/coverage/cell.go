package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/classshares"
	"iwda/internal/gaussians"
	"iwda/weightest/intervals"
	"iwda/weightest/shifttest"
)

// cell is a size of the problem: k classes, the rows of both domains, and whether the
// classifier is too sure by half and biased.
type cell struct {
	classes, source, target int
	miscalibrated           bool
}

func cells() []cell {
	var all []cell
	for _, size := range []struct{ k, n int }{{2, 200}, {2, 1000}, {3, 200}, {3, 1000}, {10, 200}, {10, 1000}, {20, 400}, {5, 150}, {12, 240}, {30, 600}} {
		for _, times := range []int{1, 5, 25, 50} {
			c := cell{classes: size.k, source: size.n, target: times * size.n}
			sure := c
			sure.miscalibrated = true
			all = append(all, c, sure)
		}
	}
	return all
}

func (c cell) kind() string {
	if c.miscalibrated {
		return "too sure, biased"
	}
	return "calibrated"
}

func (c cell) String() string {
	return fmt.Sprintf("k=%d n=%d m=%d %s", c.classes, c.source, c.target, c.kind())
}

// problem draws the target's shares from all that there are with equal probability; the source's
// are equal. Biases have the standard deviation 0.5.
func (c cell) problem(random *rand.Rand) gaussians.Problem {
	p := gaussians.Rising(c.classes)
	for y := range p.Target {
		p.Target[y] = random.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(p.Target), p.Target)
	if c.miscalibrated {
		p.Sureness = 1.5
		for range c.classes {
			p.Biases = append(p.Biases, 0.5*random.NormFloat64())
		}
	}
	return p
}

// draw counts one draw.
func (c cell) draw(seed uint64) (tally, error) {
	random := rand.New(rand.NewPCG(seed, uint64(c.classes*c.target)))
	p := c.problem(random)
	source, labels := p.SourceRows(c.source, random)
	for len(slices.Compact(slices.Sorted(slices.Values(labels)))) < c.classes {
		source, labels = p.SourceRows(c.source, random)
	}
	rows := func(probabilities []float64) classshares.Rows {
		narrow := make([]float32, len(probabilities))
		for i, v := range probabilities {
			narrow[i] = float32(v)
		}
		return classshares.Rows{Values: narrow, Probabilities: true}
	}
	s, err := classshares.Fit(c.classes, rows(source), labels, rows(p.TargetRows(c.target, random)), classshares.Settings{})
	if err != nil {
		return tally{}, err
	}
	known, err := s.Bootstrap(intervals.BootstrapSettings{Seed: seed, Replicas: 200})
	if err != nil {
		return tally{}, err
	}
	shift, err := shifttest.LabelShiftTest(s.Sample, shifttest.LabelShiftSettings{Seed: seed})
	if err != nil {
		return tally{}, err
	}
	t := newTally(c.classes)
	t.Draws, t.Joint = 1, []int{1, 1}
	for y, q := range p.Target {
		w := q / p.Source[y]
		t.Shares[y] = holds(known.Shares.Each[y], q)
		t.Weights[y] = holds(known.Weights.Each[y], w)
		t.Joint[0] *= holds(known.Shares.Joint[y], q)
		t.Joint[1] *= holds(known.Weights.Joint[y], w)
	}
	if shift.Tested() {
		t.Tested = 1
		if shift.Rejected() {
			t.Rejected = 1
		}
	}
	return t, nil
}

func holds(i intervals.Interval, truth float64) int {
	if i.Low <= truth && truth <= i.High {
		return 1
	}
	return 0
}

// tally is what was counted in some draws.
type tally struct {
	Draws    int   `json:"draws"`
	Shares   []int `json:"shares"` // whose interval held the truth, by class
	Weights  []int `json:"weights"`
	Joint    []int `json:"joint,omitempty"` // whose joint intervals held all shares, all weights; none: not counted
	Tested   int   `json:"tested"`
	Rejected int   `json:"rejected"`
}

func newTally(classes int) tally {
	return tally{Shares: make([]int, classes), Weights: make([]int, classes), Joint: make([]int, 2)}
}

func (t *tally) add(other tally) {
	t.Draws, t.Tested, t.Rejected = t.Draws+other.Draws, t.Tested+other.Tested, t.Rejected+other.Rejected
	for y := range t.Shares {
		t.Shares[y] += other.Shares[y]
		t.Weights[y] += other.Weights[y]
	}
	for i := range t.Joint {
		t.Joint[i] += other.Joint[i]
	}
}

// String gives percentages: of all classes, with the worst and the best one, of the joint
// intervals, and of the tests.
func (t tally) String() string {
	percent := func(count, of int) float64 { return 100 * float64(count) / float64(of) }
	held := func(counts []int) string {
		sum := 0
		for _, count := range counts {
			sum += count
		}
		return fmt.Sprintf("%.1f (%.1f–%.1f)", percent(sum, t.Draws*len(counts)), percent(slices.Min(counts), t.Draws), percent(slices.Max(counts), t.Draws))
	}
	joint, rejected := "–", "–"
	if t.Joint != nil {
		joint = fmt.Sprintf("%.1f, %.1f", percent(t.Joint[0], t.Draws), percent(t.Joint[1], t.Draws))
	}
	if t.Tested > 0 {
		rejected = fmt.Sprintf("%.1f", percent(t.Rejected, t.Tested))
	}
	return fmt.Sprintf("%s | %s | %s | %s", held(t.Shares), held(t.Weights), joint, rejected)
}
