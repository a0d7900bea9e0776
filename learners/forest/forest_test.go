package forest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"iwda/internal/evenly"
	"iwda/internal/must"
	"iwda/learners"
)

// grown is a forest with what its trees say of rows that they have not drawn.
type grown struct {
	Forest
	learners.Crossed
}

func fit(t testing.TB, rows learners.Rows, seed uint64) grown {
	t.Helper()
	return fitWith(t, rows, nil, 1, seed)
}

func fitWith(t testing.TB, rows learners.Rows, others []float32, threads int, seed uint64) grown {
	t.Helper()
	fitted := must.Have(Fit(t.Context(), rows, others, threads, rand.NewPCG(seed, 1)))(t)
	g := grown{fitted.Model.(Forest), fitted.Crossed}
	must.Have(g.Check(rows.Columns()))(t)
	return g
}

// classes are those of the largest logits of rows.
func classes(logits []float64, k int) (largest []int) {
	for row := range slices.Chunk(logits, k) {
		largest = append(largest, slices.Index(row, slices.Max(row)))
	}
	return largest
}

func correct(got, want []int) float64 {
	n := 0.0
	for i, class := range got {
		if class == want[i] {
			n++
		}
	}
	return n / float64(len(want))
}

// rings draws rows of d values, of which the first two have the classes in rings around 0.
func rings(n, d, k int, seed uint64) learners.Rows {
	random := rand.New(rand.NewPCG(seed, 2))
	r := learners.Rows{Classes: k}
	for range n {
		row := make([]float32, d)
		for j := range row {
			row[j] = float32(random.NormFloat64())
		}
		radius := math.Hypot(float64(row[0]), float64(row[min(1, d-1)]))
		r.Values, r.Labels = append(r.Values, row...), append(r.Labels, min(k-1, int(radius*float64(k)/2)))
	}
	return r
}

// Accuracy on other rows and out of bag, and cross-entropy of (100 p + 1/3)/101, are those of scikit-learn
// 1.2's RandomForestClassifier, of which means and deviations over 30 seeds stand here.
func TestAsScikitLearn(t *testing.T) {
	frac := func(v float64) float64 { return v - math.Floor(v) }
	rows, other := learners.Rows{Classes: 3}, learners.Rows{Classes: 3}
	for i := 1; i <= 2000; i++ {
		var x [10]float64
		for j, prime := range []float64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29} {
			x[j] = frac(float64(i) * math.Sqrt(prime))
		}
		y := 0
		if (x[0] > 0.5) != (x[1] > 0.5) {
			y++
		}
		if x[2]+x[3] > 1.2 {
			y++
		}
		if x[9] < 0.1 {
			y = (y + 1) % 3
		}
		to := &rows
		if i > 1000 {
			to = &other
		}
		for _, v := range x[:6] {
			to.Values = append(to.Values, float32(v))
		}
		to.Labels = append(to.Labels, y)
	}
	var accuracy, outOfBag, loss []float64
	const seeds = 10
	for seed := range uint64(seeds) {
		g := fit(t, rows, seed)
		logits := g.Forest.Logits(other.Values, 6, 1)
		accuracy = append(accuracy, correct(classes(logits, 3), other.Labels))
		outOfBag = append(outOfBag, correct(classes(g.Crossed.Logits, 3), evenly.Pick(rows.Labels, g.Crossed.Rows)))
		sum := 0.0
		for i, y := range other.Labels {
			sum -= logits[3*i+y]
		}
		loss = append(loss, sum/1000)
	}
	for _, c := range []struct {
		name            string
		got             []float64
		mean, deviation float64
	}{{"accuracy", accuracy, 0.7252, 0.0122}, {"out of bag", outOfBag, 0.6667, 0.0175}, {"loss", loss, 0.7477, 0.0109}} {
		if mean := stat.Mean(c.got, nil); math.Abs(mean-c.mean) > 3*c.deviation*math.Sqrt(1./seeds+1./30) {
			t.Errorf("%s: %.4f, scikit-learn has %.4f (%.4f)", c.name, mean, c.mean, c.deviation)
		}
		if _, deviation := stat.MeanStdDev(c.got, nil); deviation > 2.5*c.deviation {
			t.Errorf("%s: a deviation of %.4f, scikit-learn has %.4f", c.name, deviation, c.deviation)
		}
	}
}

// Each tree knows the rows that it drew, if no two of them are alike, whatever their labels.
func TestTreesLearnTheirRows(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	rows := rings(300, 3, 4, 1)
	for i := range rows.Labels {
		rows.Labels[i] = random.IntN(4)
	}
	g := newGrower(rows, random)
	for tree := range 10 {
		g.draw()
		g.grow(tree)
		for i := range rows.Labels {
			sums := make([]float64, 4)
			g.forest.add(sums, rows.Values[3*i:3*i+3], tree)
			if g.weights[i] > 0 && sums[rows.Labels[i]] != 1 {
				t.Fatalf("tree %d says %v of row %d", tree, sums, i)
			}
		}
	}
}

// Only the order of a column's values matters, and the forest is the same for the same numbers.
func TestMonotone(t *testing.T) {
	rows := rings(200, 3, 3, 2)
	bent := learners.Rows{Labels: rows.Labels, Classes: 3}
	for i, v := range rows.Values {
		switch i % 3 {
		case 0:
			v = float32(math.Exp(float64(v)))
		case 1:
			v = 1e30 * v
		}
		bent.Values = append(bent.Values, v)
	}
	a, b, again, other := fit(t, rows, 5), fit(t, bent, 5), fit(t, rows, 5), fit(t, rows, 6)
	if !slices.Equal(a.Crossed.Logits, again.Crossed.Logits) || !slices.Equal(a.Nodes, again.Nodes) || slices.Equal(a.Crossed.Logits, other.Crossed.Logits) {
		t.Error("not the random numbers alone tell forests apart")
	}
	for i := range a.Nodes {
		if i%Fields == threshold && a.Nodes[i/Fields*Fields+left] != float32(i/Fields) {
			b.Nodes[i] = a.Nodes[i] // between other values
		}
	}
	if !slices.Equal(a.Nodes, b.Nodes) || !slices.Equal(a.Shares, b.Shares) {
		t.Error("other trees for other values in the same order")
	}
}

// Rows out of bag say how often others are right; fewer trees are less sure of these.
func TestOutOfBag(t *testing.T) {
	for _, n := range []int{1000, 12_000} { // each tree draws as many rows, or few
		rows, other := rings(n, 6, 3, 7), rings(4000, 6, 3, 8)
		g := fitWith(t, rows, other.Values, 1, 1)
		again := fitWith(t, rows, other.Values, 3, 1)
		if !slices.Equal(g.Nodes, again.Nodes) || !slices.Equal(g.Others[0], again.Others[0]) || !slices.Equal(g.Forest.Logits(other.Values, 6, 1), again.Forest.Logits(other.Values, 6, 3)) {
			t.Errorf("%d rows: other bits with 3 threads", n)
		}
		estimate, truth := correct(classes(g.Crossed.Logits, 3), evenly.Pick(rows.Labels, g.Crossed.Rows)), correct(classes(g.Forest.Logits(other.Values, 6, 1), 3), other.Labels)
		if truth < 0.8 || math.Abs(estimate-truth) > 0.03 {
			t.Errorf("%d rows: %v out of bag, %v in truth", n, estimate, truth)
		}
		if len(g.Crossed.Rows) > learners.MostCrossed {
			t.Errorf("%d of %d rows are judged", len(g.Crossed.Rows), n)
		}
		sure := func(logits []float64) (mean float64) {
			for row := range slices.Chunk(logits, 3) {
				mean += math.Exp(slices.Max(row)) * 3 / float64(len(logits))
			}
			return mean
		}
		if a, b := sure(g.Crossed.Logits), sure(g.Others[0]); math.Abs(a-b) > 0.01 {
			t.Errorf("%d rows: sure by %v out of bag, by %v with as many trees", n, a, b)
		}
	}
}

// Of rows of which all trees say the same, it is told by how many trees: both domains are asked by as many.
func TestAsManyTrees(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	draw := func(n int) (rows learners.Rows) {
		rows.Classes = 2
		for i := range n {
			rows.Labels, rows.Values = append(rows.Labels, i%2), append(rows.Values, float32(10*(i%2)+random.IntN(3)))
		}
		return rows
	}
	g := fitWith(t, draw(300), draw(600).Values, 1, 1)
	told := func(logits []float64) map[float64]float64 {
		parts := map[float64]float64{}
		for row := range slices.Chunk(logits, 2) {
			parts[slices.Min(row)] += 2 / float64(len(logits))
		}
		return parts
	}
	source, other := told(g.Crossed.Logits), told(g.Others[0])
	for value, part := range source {
		if math.Abs(other[value]-part) > 1e-9 {
			t.Errorf("%v is said of %.3f of the source and of %.3f of others", value, part, other[value])
		}
	}
	if len(source) < 10 {
		t.Errorf("%d values", len(source))
	}
}

// What has nothing to split, few rows, and many classes.
func TestEdges(t *testing.T) {
	constant := learners.Rows{Values: make([]float32, 60), Labels: make([]int, 20), Classes: 2}
	for i := range 5 {
		constant.Labels[i] = 1
	}
	g := fit(t, constant, 1)
	if p := math.Exp((g.Forest.Logits([]float32{0, 0, 0}, 3, 1)[1])); len(g.Nodes) != 100*Fields || math.Abs(p-0.25) > 0.05 {
		t.Errorf("constant columns: %d nodes, p = %v of a quarter", len(g.Nodes)/Fields, p)
	}
	one := learners.Rows{Values: []float32{1, 2, 3, 4}, Labels: []int{2, 2, 2, 2}, Classes: 3}
	g = fit(t, one, 1)
	if p := math.Exp((g.Forest.Logits([]float32{9}, 1, 1)[2])); math.Abs(p-(100+1./3)/101) > 1e-6 || len(g.Shares) != 3 {
		t.Errorf("one class: p = %v, shares %v", p, g.Shares)
	}
	two := learners.Rows{Values: []float32{1, math.Nextafter32(1, 2)}, Labels: []int{0, 1}, Classes: 2}
	g = fit(t, two, 1)
	if got := classes(g.Forest.Logits(two.Values, 1, 1), 2); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("neighbouring values: %v", got)
	}
	far := learners.Rows{Values: []float32{-math.MaxFloat32, math.MaxFloat32, float32(math.Copysign(0, -1)), 0}, Labels: []int{0, 1, 2, 2}, Classes: 3}
	g = fit(t, far, 1)
	if got := classes(g.Forest.Logits(far.Values, 1, 1), 3); !slices.Equal(got, far.Labels) {
		t.Errorf("values far apart: %v", got)
	}
	zeros := learners.Rows{Values: []float32{0, float32(math.Copysign(0, -1)), 0, float32(math.Copysign(0, -1))}, Labels: []int{0, 1, 0, 1}, Classes: 2}
	if g = fit(t, zeros, 1); len(g.Nodes) != 100*Fields {
		t.Error("0 and -0 are parted")
	}
	ties := learners.Rows{Classes: 2} // x is 0 to 4; of class 1 are the even ones, and half of the others
	for i := range 1000 {
		ties.Values, ties.Labels = append(ties.Values, float32(i%5)), append(ties.Labels, max((i+1)%5%2, i/500))
	}
	g = fit(t, ties, 1)
	p := g.Forest.Logits([]float32{0, 1, 2, 3, 4}, 1, 1)
	for x := range 5 {
		want := 0.5
		if (x+1)%5%2 == 1 {
			want = 1
		}
		if got := math.Exp(p[2*x+1]); math.Abs(got-want) > 0.02 {
			t.Errorf("ties: p = %v at %d, want %v", got, x, want)
		}
	}
	many := rings(2000, 2, 40, 3)
	g = fit(t, many, 1)
	if share := correct(classes(g.Crossed.Logits, 40), evenly.Pick(many.Labels, g.Crossed.Rows)); share < 0.4 {
		t.Errorf("40 classes: %v out of bag", share)
	}
	if sum := floats.Sum(exp(g.Crossed.Logits[:40])); math.Abs(sum-1) > 1e-6 {
		t.Errorf("probabilities sum to %v", sum)
	}
	many.Classes = learners.MostClasses + 1
	must.Refuse(Fit(t.Context(), many, nil, 1, rand.NewPCG(1, 1)))(t, "2049 classes")
	for want, wrong := range map[string]learners.Rows{
		"row 1, column 0: the value is NaN; make it finite": {Values: []float32{1, float32(math.NaN()), 2, 3}, Labels: one.Labels, Classes: 3},
	} {
		must.Refuse(Fit(t.Context(), wrong, nil, 1, rand.NewPCG(1, 1)))(t, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, one, nil, 1, rand.NewPCG(1, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func exp(logits []float64) (p []float64) {
	for _, z := range logits {
		p = append(p, math.Exp(z))
	}
	return p
}

// Trees may be deep, and leaves beyond the bound on shares are of one class.
func TestBounds(t *testing.T) {
	rows := learners.Rows{Classes: 2}
	for i := range 4096 { // the best split takes some rows off an end
		rows.Values, rows.Labels = append(rows.Values, float32(i)), append(rows.Labels, i%2)
	}
	if depth, err := fit(t, rows, 1).Check(1); depth < 100 || err != nil {
		t.Errorf("%d nodes deep, %v", depth, err)
	}
	words := learners.Rows{Classes: 2000}
	for i := range 3000 {
		words.Values, words.Labels = append(words.Values, float32(i/7)), append(words.Labels, i*7919%2000)
	}
	if g := fit(t, words, 1); len(g.Shares) > 2*mostShares+2000 || len(g.Shares) < mostShares {
		t.Errorf("%d shares", len(g.Shares))
	}
}

// What a file may say of a forest is followed to a leaf, or is an error.
func TestCheck(t *testing.T) {
	g := fit(t, rings(100, 2, 2, 1), 1)
	nan := float32(math.NaN())
	inner := slices.IndexFunc(slices.Collect(slices.Chunk(g.Nodes, Fields)), func(n []float32) bool { return n[left] != n[right] })
	leaf := slices.IndexFunc(slices.Collect(slices.Chunk(g.Nodes, Fields)), func(n []float32) bool { return n[left] == n[right] })
	for _, c := range []struct {
		node, field int
		to          float32
		want        string
	}{
		{inner, column, 2, "asks for column 2 of 2"}, {inner, column, -1, "column -1"}, {inner, column, 0.5, "column 0.5"}, {leaf, column, nan, "column NaN"},
		{inner, threshold, nan, "threshold NaN"}, {inner, threshold, float32(math.Inf(1)), "threshold +Inf"},
		{inner, left, float32(inner), "goes on at"}, {inner, right, 1e9, "goes on at 1e+09"}, {inner, left, 101.5, "goes on at 101.5"}, {inner, right, nan, "goes on at NaN"},
		{leaf, threshold, 2, "the shares 2 of 2"}, {leaf, threshold, -1, "the shares -1"}, {leaf, left, 0, "goes on at 0"},
	} {
		f := g.Forest
		f.Nodes = slices.Clone(f.Nodes)
		f.Nodes[c.node*Fields+c.field] = c.to
		if _, err := f.Check(2); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v in field %d: %v", c.to, c.field, err)
		}
	}
	f := g.Forest
	f.Shares = []float32{0, 1, 1.5, 0}
	must.Refuse(f.Check(2))(t, "share 0 of leaf 1 is 1.5")
	f.Trees = len(f.Nodes)
	must.Refuse(f.Check(2))(t, "trees of")
	chain := Forest{Trees: 1, Classes: 1, Shares: []float32{1}}
	for i := range 600 {
		chain.Nodes = append(chain.Nodes, 0, 0, float32(i+1), float32(i+1))
	}
	must.Refuse(chain.Check(1))(t, "below a root")
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte{0, 0, 1, 2, 0, 0, 1, 1, 0, 1, 2, 2}, byte(1))
	f.Fuzz(func(t *testing.T, data []byte, trees byte) {
		forest := Forest{Trees: int(trees), Classes: 2, Shares: []float32{0, 1, 0.5, 0.5}}
		for _, b := range data[:len(data)/Fields*Fields] {
			forest.Nodes = append(forest.Nodes, float32(int8(b))/2)
		}
		if _, err := forest.Check(2); err == nil {
			forest.Logits([]float32{0, 1, float32(math.NaN()), float32(math.Inf(1))}, 2, 1)
		}
	})
}

// Forty groups of rows that look alike, of a class that nothing tells: trees that have seen none of a
// group guess, and others know.
func TestGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := learners.Rows{Classes: 2}
	for group := range 40 {
		centre := [3]float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
		for range 15 {
			for _, c := range centre {
				rows.Values = append(rows.Values, float32(c+0.01*random.NormFloat64()))
			}
			rows.Labels, rows.Groups = append(rows.Labels, group%2), append(rows.Groups, 7*group)
		}
	}
	of := func(rows learners.Rows) float64 {
		g := fit(t, rows, 1)
		if len(g.Crossed.Rows) != len(rows.Labels) {
			t.Fatalf("%d of %d rows are out of bag", len(g.Crossed.Rows), len(rows.Labels))
		}
		return correct(classes(g.Crossed.Logits, 2), evenly.Pick(rows.Labels, g.Crossed.Rows))
	}
	grouped, alone := of(rows), of(learners.Rows{Values: rows.Values, Labels: rows.Labels, Classes: 2})
	if grouped > 0.75 || alone < 0.95 {
		t.Errorf("out of bag %v are right with groups, %v without", grouped, alone)
	}
}
