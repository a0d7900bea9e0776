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
	for _, k := range []int{2, 3, 10} {
		for _, n := range []int{200, 1000} {
			for _, times := range []int{1, 5, 25, 50} {
				all = append(all, cell{k, n, times * n, false}, cell{k, n, times * n, true})
			}
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
	t.Draws = 1
	for y, q := range p.Target {
		t.Shares[y] = holds(known.Shares.Each[y], q)
		t.Weights[y] = holds(known.Weights.Each[y], q/p.Source[y])
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
	Tested   int   `json:"tested"`
	Rejected int   `json:"rejected"`
}

func newTally(classes int) tally {
	return tally{Shares: make([]int, classes), Weights: make([]int, classes)}
}

func (t *tally) add(other tally) {
	t.Draws, t.Tested, t.Rejected = t.Draws+other.Draws, t.Tested+other.Tested, t.Rejected+other.Rejected
	for y := range t.Shares {
		t.Shares[y] += other.Shares[y]
		t.Weights[y] += other.Weights[y]
	}
}

// String gives percentages: of all classes, with the worst and the best one, and of the tests.
func (t tally) String() string {
	percent := func(count, of int) float64 { return 100 * float64(count) / float64(of) }
	held := func(counts []int) string {
		sum := 0
		for _, count := range counts {
			sum += count
		}
		return fmt.Sprintf("%.1f (%.1f–%.1f)", percent(sum, t.Draws*len(counts)), percent(slices.Min(counts), t.Draws), percent(slices.Max(counts), t.Draws))
	}
	rejected := "–"
	if t.Tested > 0 {
		rejected = fmt.Sprintf("%.1f", percent(t.Rejected, t.Tested))
	}
	return fmt.Sprintf("%s | %s | %s", held(t.Shares), held(t.Weights), rejected)
}
