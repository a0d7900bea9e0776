package regression

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/evenly"
	"iwda/internal/timing"
)

// problemOf draws n rows of k Gaussian classes in d dimensions.
func problemOf(n, d, k int, separation float64, seed uint64) Rows {
	random := rand.New(rand.NewPCG(seed, 1))
	r := Rows{Classes: k}
	for i := range n {
		y := i % k
		for j := range d {
			x := random.NormFloat64()
			if j == y%d {
				x += separation
			}
			r.Values = append(r.Values, float32(x))
		}
		r.Labels = append(r.Labels, y)
	}
	return r
}

// At the minimum the gradient is 0, whatever the start.
func TestMinimum(t *testing.T) {
	rows := problemOf(300, 5, 3, 1.5, 1)
	err := rows.problem(func(p *problem) error {
		var least []float64
		for _, c := range []float64{0.01, 1, 100} {
			for _, start := range [][]float64{nil, make([]float64, 18)} {
				for i := range start {
					start[i] = float64(i%5) - 2
				}
				solved, err := p.solve(t.Context(), c, start)
				if err != nil {
					return err
				}
				gradient := make([]float64, 18)
				value := p.value(append(append([]float64{}, solved.Weight...), solved.Bias...), gradient, c)
				for i, g := range gradient {
					if math.Abs(g) > 1e-5 {
						t.Errorf("C = %v: entry %d of the gradient is %v", c, i, g)
					}
				}
				least = append(least, value)
			}
			if n := len(least); math.Abs(least[n-1]-least[n-2]) > 1e-7 {
				t.Errorf("C = %v: minima %v", c, least[n-2:])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Of many columns without meaning a strong penalty is chosen, of few with much a weak one; and
// the Bayes classifier of two Gaussian classes is found.
func TestFit(t *testing.T) {
	noise, err := Fit(t.Context(), problemOf(120, 60, 2, 0, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	clear, err := Fit(t.Context(), problemOf(4000, 2, 2, 2, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	if noise.C >= clear.C || noise.C > 0.01 {
		t.Errorf("C = %v of noise, %v of classes", noise.C, clear.C)
	}
	// log p_0/p_1 = 2 (x_0 - x_1).
	if slope := clear.Weight[0] - clear.Weight[2]; math.Abs(slope-2) > 0.2 {
		t.Errorf("slope %v, want 2", slope)
	}
}

// The source's own rows as others, in the order of the folds, have the logits that they have as rows
// which were left out; those by the classifier of all rows are others.
func TestOthersAreCrossed(t *testing.T) {
	rows := problemOf(203, 8, 3, 1, 7)
	others := rows.part(byClass(rows.Labels))
	c, err := Fit(t.Context(), rows, others.Values)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(evenly.Pick(rows.Labels, c.CrossedRows), others.Labels) {
		t.Fatal("the order of the folds is not that of the classes")
	}
	if !floats.EqualApprox(c.CrossedOthers, c.Crossed, 1e-9) {
		t.Error("logits of the same rows differ")
	}
	sure := 0.
	for i, row := range slices.Collect(slices.Chunk(c.CrossedOthers, 3)) {
		x := others.Values[i*8 : (i+1)*8]
		for y := range 3 {
			logit := c.Bias[y]
			for j, v := range x {
				logit += c.Weight[y*8+j] * float64(v)
			}
			sure = math.Max(sure, math.Abs(logit-row[y]))
		}
	}
	if sure < 0.01 {
		t.Errorf("logits differ by %v from those of the classifier of all rows", sure)
	}
}

// A class of one row, and rows in any order, are solved for.
func TestRareClass(t *testing.T) {
	rows := problemOf(41, 3, 2, 1, 3)
	rows.Classes, rows.Labels[7] = 3, 2
	if c, err := Fit(t.Context(), rows, nil); err != nil || len(c.Bias) != 3 {
		t.Errorf("%v, %v", c, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, problemOf(100, 3, 2, 1, 4), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkFit(b *testing.B) {
	for name, rows := range map[string]Rows{"1000×30": problemOf(1000, 30, 3, 1, 5), "20000×512": problemOf(timing.Size(20_000, 500), 512, 10, 1, 6)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Fit(b.Context(), rows, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Rows that look alike within a group, of a class that nothing tells, are guessed by folds without the
// group, and known by others.
func TestGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := Rows{Classes: 2}
	for group := range 24 {
		centre := make([]float64, 40)
		for j := range centre {
			centre[j] = random.NormFloat64()
		}
		for range 10 {
			for _, c := range centre {
				rows.Values = append(rows.Values, float32(c+0.01*random.NormFloat64()))
			}
			rows.Labels, rows.Groups = append(rows.Labels, group%2), append(rows.Groups, group)
		}
	}
	right := func(rows Rows) (share float64) {
		c, err := Fit(t.Context(), rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range c.CrossedRows {
			if floats.MaxIdx(c.Crossed[2*i:2*i+2]) == rows.Labels[row] {
				share += 1 / float64(len(c.CrossedRows))
			}
		}
		return share
	}
	grouped, alone := right(rows), right(Rows{Values: rows.Values, Labels: rows.Labels, Classes: 2})
	if grouped > 0.75 || alone < 0.95 {
		t.Errorf("%v of the rows left out are right with groups, %v without", grouped, alone)
	}
}
