package regression

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/evenly"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/learners"
)

// problemOf draws n rows of k Gaussian classes in d dimensions.
func problemOf(n, d, k int, separation float64, seed uint64) learners.Rows {
	random := rand.New(rand.NewPCG(seed, 1))
	r := learners.Rows{Classes: k}
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

func fit(t testing.TB, rows learners.Rows, others []float32, threads int) (Classifier, learners.Crossed) {
	t.Helper()
	fitted := must.Have(Fit(t.Context(), rows, others, threads, nil))(t)
	return fitted.Model.(Classifier), fitted.Crossed
}

// Beside its blocks and what they say of rows a problem takes next to no memory: the rows are not copied first.
func TestRowsAreNotCopied(t *testing.T) {
	const n, d, k = 20_000, 40, 3
	rows, all := problemOf(n, d, k, 1.5, 1), evenly.All(n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := newProblem(rows, all, 1)
	runtime.ReadMemStats(&after)
	const own, labels = 8 * n * (d + 1 + k), 8 * n
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1.2*own+labels {
		t.Errorf("%d bytes for %d of %d rows", taken, own, p.n)
	}
}

// At the minimum the gradient is 0, whatever the start, in the coordinates of the search and in others.
func TestMinimum(t *testing.T) {
	rows := problemOf(300, 5, 3, 1.5, 1)
	two := problemOf(301, 4, 2, 1.5, 1)
	for name, p := range map[string]*problem{"three": newProblem(rows, evenly.All(len(rows.Labels)), 1), "two": newProblem(two, evenly.All(len(two.Labels)), 1)} {
		for _, c := range []float64{0.01, 1, 100} {
			var minima []float64
			for _, start := range [][]float64{nil, make([]float64, p.vectors*(p.d+1))} {
				for i := range start {
					start[i] = float64(i%5) - 2
				}
				at := must.Have(p.minimum(t.Context(), c, start, least))(t)
				gradient := make([]float64, len(at))
				minima = append(minima, p.value(at, gradient, c))
				if steepest := floats.Norm(gradient, math.Inf(1)); steepest > 1e-8 {
					t.Errorf("%s, C = %v: an entry of the gradient is %v", name, c, steepest)
				}
			}
			if math.Abs(minima[0]-minima[1]) > 1e-12 {
				t.Errorf("%s, C = %v: minima %v", name, c, minima)
			}
		}
	}
}

// A start of rows without most classes, whose biases are far from those of all rows, leads to the minimum too.
func TestStartWithoutClasses(t *testing.T) {
	rows := problemOf(900, 3, 300, 2, 4)
	start := must.Have(newProblem(rows, []int{0, 1, 2, 3, 4}, 1).minimum(t.Context(), 1e-3, nil, near))(t)
	if _, err := newProblem(rows, evenly.All(len(rows.Labels)), 2).minimum(t.Context(), 1e-3, start, least); err != nil {
		t.Error(err)
	}
}

// The minimum of fewer rows than columns is that of the same rows six times with a sixth of C.
func TestFewRows(t *testing.T) {
	for _, k := range []int{2, 3} {
		rows := problemOf(40, 101, k, 1, 3)
		copy(rows.Values, rows.Values[101:202]) // two alike
		copy(rows.Values[202:303], make([]float32, 101))
		few, many := newProblem(rows, evenly.All(len(rows.Labels)), 1), newProblem(rows, slices.Repeat(evenly.All(40), 6), 1)
		got := must.Have(few.solve(t.Context(), 3, nil))(t)
		want := must.Have(many.solve(t.Context(), 0.5, nil))(t)
		if !floats.EqualApprox(got.Weight, want.Weight, 1e-6) || !floats.EqualApprox(got.Bias, want.Bias, 1e-6) {
			t.Errorf("%d classes: weights differ by %v", k, floats.Distance(got.Weight, want.Weight, math.Inf(1)))
		}
	}
	rows := learners.Rows{Classes: 2, Values: make([]float32, 4*10), Labels: []int{0, 1, 0, 1}}
	if _, err := newProblem(rows, evenly.All(len(rows.Labels)), 1).solve(t.Context(), 1, nil); err != nil {
		t.Error("of zeros alone:", err)
	}
}

// After much work near is near enough.
func TestMostWork(t *testing.T) {
	rows := problemOf(300, 5, 3, 1.5, 1)
	start := newProblem(rows, evenly.All(len(rows.Labels)), 1)
	at := must.Have(start.minimum(t.Context(), 100, nil, near))(t)
	p := newProblem(rows, evenly.All(len(rows.Labels)), 1)
	p.work = 2 * mostWork
	again, err := p.minimum(t.Context(), 100, nil, least)
	if err != nil || !slices.Equal(again, at) {
		t.Error("another minimum than the near one", err)
	}
	if least, err := newProblem(rows, evenly.All(len(rows.Labels)), 1).minimum(t.Context(), 100, nil, least); err != nil || slices.Equal(least, at) {
		t.Error("the near minimum without work", err)
	}
}

// Strengths are tried until the loss rises beyond C = 1: the judged rows have been predicted by the best of all.
func TestStrengthsUntilLossRises(t *testing.T) {
	rows := problemOf(300, 40, 20, 3, 5)
	c, crossed := fit(t, rows, nil, 1)
	got := floats.Sum(lossesOf(crossed.Logits, evenly.Pick(rows.Labels, crossed.Rows), 20))
	if c.C != 1 || got/300 > 0.8*math.Log(20) {
		t.Errorf("C = %v, loss %v", c.C, got/300)
	}
}

// Of many classes two rows each are judged, in two folds, so that one of them is learnt from; of more than can be
// learnt from, an error says so.
func TestManyClasses(t *testing.T) {
	for _, c := range [][6]int{{9000, 8, 3, 1 << 27 / 11, 10_000, 5}, {9000, 8, 1000, 125_000, 2000, 2}, {15_000, 8, 5000, 25_000, 10_000, 2}, {9000, 2048, 65, 7512, 130, 2}, {110, 2048, 65, 7512, 130, 2}} {
		if most, judged, parts := extent(c[0], c[1], c[2]); [3]int{most, judged, parts} != [3]int(c[3:]) {
			t.Errorf("%v: %d, %d, %d", c, most, judged, parts)
		}
	}
	many := learners.Rows{Classes: 1001, Values: make([]float32, 1001*1000), Labels: evenly.All(1001)}
	must.Refuse(Fit(t.Context(), many, nil, 1, nil))(t, "1001 classes of 1000 columns are too many: only 999 rows could be learnt from")
}

// The gradient is that of differences, of two classes and more.
func TestGradient(t *testing.T) {
	for _, k := range []int{2, 4} {
		rows := problemOf(150, 3, k, 1, 9)
		p := newProblem(rows, evenly.All(len(rows.Labels)), 1)
		at, gradient, rest := make([]float64, p.vectors*4), make([]float64, p.vectors*4), make([]float64, p.vectors*4)
		for i := range at {
			at[i] = math.Sin(float64(i + 1))
		}
		p.value(at, gradient, 0.1)
		for i := range at {
			const step = 1e-5
			moved := slices.Clone(at)
			moved[i] += step
			above := p.value(moved, rest, 0.1)
			moved[i] -= 2 * step
			if want := (above - p.value(moved, rest, 0.1)) / (2 * step); math.Abs(gradient[i]-want) > 1e-8 {
				t.Errorf("%d classes, entry %d: %v, by differences %v", k, i, gradient[i], want)
			}
		}
	}
}

// The strength, F and logits are those that libtorch's products in float64 and L-BFGS down to a gradient of
// 1e-9 found, at any number of threads.
func TestGolden(t *testing.T) {
	var want map[string]struct {
		C, F                 float64
		Logits, Rows, Others []float64 // of the first rows
	}
	if err := json.Unmarshal(testfiles.Read(t, "testdata/golden.json"), &want); err != nil || len(want) != 3 {
		t.Fatal(want, err)
	}
	for name, rows := range map[string]learners.Rows{"two": problemOf(400, 6, 2, 1, 11), "three": problemOf(500, 10, 3, 1.5, 12), "wide": problemOf(150, 90, 4, 2, 13)} {
		c, crossed := fit(t, rows, rows.Values[:20*rows.Columns()], 1)
		p, want := newProblem(rows, evenly.All(len(rows.Labels)), 1), want[name]
		var at []float64
		for y := range rows.Classes {
			weights := c.Weight[y*p.d : (y+1)*p.d]
			at = append(append(at, floats.MulTo(make([]float64, p.d), weights, p.scale)...), c.Bias[y]+floats.Dot(weights, p.mean))
		}
		if rows.Classes == 2 {
			at = floats.SubTo(make([]float64, p.d+1), at[p.d+1:], at[:p.d+1])
		}
		if f := p.value(at, make([]float64, len(at)), c.C); c.C != want.C || math.Abs(f/want.F-1) > 1e-8 {
			t.Errorf("%s: C = %v and F = %v, want %v and %v", name, c.C, f, want.C, want.F)
		}
		for of, pair := range map[string][2][]float64{
			"rows": {c.Logits(rows.Values, p.d, 1), want.Logits}, "judged rows": {crossed.Logits, want.Rows}, "others": {crossed.InTurn(p.k), want.Others},
		} {
			if got := pair[0][:len(pair[1])]; !floats.EqualApprox(got, pair[1], 1e-6) {
				t.Errorf("%s: logits of %s differ by %v", name, of, floats.Distance(got, pair[1], math.Inf(1)))
			}
		}
		again, crossedAgain := fit(t, rows, rows.Values[:20*rows.Columns()], 7)
		if !slices.Equal(again.Weight, c.Weight) || !slices.Equal(crossedAgain.Logits, crossed.Logits) || !slices.Equal(crossedAgain.InTurn(p.k), crossed.InTurn(p.k)) {
			t.Errorf("%s: other bits with 7 threads", name)
		}
	}
}

// Of many columns without meaning a strong penalty is chosen, of few with much a weak one; and
// the Bayes classifier of two Gaussian classes is found.
func TestFit(t *testing.T) {
	noise, _ := fit(t, problemOf(120, 60, 2, 0, 1), nil, 1)
	clear, _ := fit(t, problemOf(4000, 2, 2, 2, 2), nil, 1)
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
	others := rows.Part(byClass(rows.Labels))
	c, crossed := fit(t, rows, others.Values, 1)
	if !slices.Equal(evenly.Pick(rows.Labels, crossed.Rows), others.Labels) {
		t.Fatal("the order of the folds is not that of the classes")
	}
	if !floats.EqualApprox(crossed.InTurn(3), crossed.Logits, 1e-9) {
		t.Error("logits of the same rows differ")
	}
	sure := 0.
	for i, row := range slices.Collect(slices.Chunk(crossed.InTurn(3), 3)) {
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
	if c, _ := fit(t, rows, nil, 1); len(c.Bias) != 3 {
		t.Errorf("%+v", c)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, problemOf(100, 3, 2, 1, 4), nil, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Rows that look alike within a group, of a class that nothing tells, are guessed by folds without the
// group, and known by others.
func TestGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := learners.Rows{Classes: 2}
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
	right := func(rows learners.Rows) (share float64) {
		_, c := fit(t, rows, nil, 1)
		for i, row := range c.Rows {
			if floats.MaxIdx(c.Logits[2*i:2*i+2]) == rows.Labels[row] {
				share += 1 / float64(len(c.Rows))
			}
		}
		return share
	}
	grouped, alone := right(rows), right(learners.Rows{Values: rows.Values, Labels: rows.Labels, Classes: 2})
	if grouped > 0.75 || alone < 0.95 {
		t.Errorf("%v of the rows left out are right with groups, %v without", grouped, alone)
	}
}
