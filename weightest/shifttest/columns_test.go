package shifttest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/internal/sampletest"
)

// domains are rows of four columns, of three classes at 0, 1.5 and 3 in the first two, and the
// probabilities that are right in the source.
type domains struct {
	source, target []float32
	labels         []int
	sample         *weightest.Sample
}

const testColumns = 4

// draw makes n rows of the source with equal shares, and n of the target with shares q of
// which those are kept that keep says.
func draw(t *testing.T, seed uint64, n int, q []float64, keep func(row []float32) bool) domains {
	return drawFrom(t, seed, []int{n / 3, n / 3, n / 3}, n, q, keep)
}

// drawFrom has so many rows of each class in the source, and m of the target.
func drawFrom(t *testing.T, seed uint64, source []int, m int, q []float64, keep func(row []float32) bool) domains {
	r := rand.New(rand.NewPCG(seed, 31))
	centre := []float64{0, 1.5, 3}
	row := func(y int) []float32 {
		x := make([]float32, testColumns)
		for j := range x {
			x[j] = float32(r.NormFloat64())
		}
		x[0] += float32(centre[y])
		x[1] -= float32(centre[y])
		return x
	}
	posterior := func(x []float32) []float64 {
		p, sum := make([]float64, 3), 0.0
		for y, c := range centre {
			a, b := float64(x[0])-c, float64(x[1])+c
			p[y] = float64(source[y]) * math.Exp(-(a*a+b*b)/2)
			sum += p[y]
		}
		for y := range p {
			p[y] /= sum
		}
		return p
	}
	var d domains
	var onSource, onTarget []float64
	for i := range slices.Max(source) {
		for y, n := range source {
			if i < n {
				x := row(y)
				d.source, d.labels = append(d.source, x...), append(d.labels, y)
				onSource = append(onSource, posterior(x)...)
			}
		}
	}
	for rows := 0; rows < m; {
		y, u := 0, r.Float64()
		for u > q[y] && y < 2 {
			u -= q[y]
			y++
		}
		if x := row(y); keep(x) {
			d.target = append(d.target, x...)
			onTarget = append(onTarget, posterior(x)...)
			rows++
		}
	}
	d.sample = sampletest.Of(t)(3, onSource, d.labels, onTarget)
	return d
}

func all([]float32) bool { return true }

// test adds the rows in two batches each.
func (d domains) test(t *testing.T) Columns {
	t.Helper()
	q := must.Have(weightest.MLLS{Pseudocount: weightest.Laplace}.Estimate(must.Have(d.sample.Problem())(t)))(t)
	sums := must.Have(NewColumnSums(d.sample, q.TargetDistribution, testColumns))(t)
	sums.AddSource(d.source[:40*testColumns], d.labels[:40], nil)
	sums.AddSource(d.source[40*testColumns:], d.labels[40:], nil)
	sums.AddTarget(d.target[:8*testColumns])
	sums.AddTarget(d.target[8*testColumns:])
	return must.Have(sums.Test())(t)
}

// Whatever the target's shares, the test rejects as seldom as its level says.
func TestColumnsUnderLabelShift(t *testing.T) {
	rejected := 0
	const draws = 200
	for seed := range uint64(draws) {
		q := [][]float64{{1. / 3, 1. / 3, 1. / 3}, {0.7, 0.2, 0.1}, {0, 0.4, 0.6}}[seed%3]
		if draw(t, seed, 120, q, all).test(t).P < Significance {
			rejected++
		}
	}
	if rejected > draws/12 {
		t.Errorf("%d of %d rejected at %v", rejected, draws, Significance)
	}
}

// So it does if a class that is common in the target has few source rows.
func TestColumnsOfRareSourceClasses(t *testing.T) {
	rejected := 0
	const draws = 200
	for seed := range uint64(draws) {
		if drawFrom(t, seed, []int{180, 14, 6}, 400, []float64{0.3, 0.3, 0.4}, all).test(t).P < Significance {
			rejected++
		}
	}
	if rejected > draws/12 {
		t.Errorf("%d of %d rejected at %v", rejected, draws, Significance)
	}
}

// Rows that are alike by chance are not certain: those of a class without a rare word, or of a small target.
func TestColumnsOfFewDifferentValues(t *testing.T) {
	const draws = 200
	few, rare := 0, 0
	for seed := range uint64(draws) {
		if drawFrom(t, seed, []int{1000, 1000, 1000}, 16, []float64{0.2, 0.3, 0.5}, all).test(t).P < Significance {
			few++
		}
		d := drawFrom(t, seed, []int{100, 100, 100}, 3000, []float64{0.2, 0.3, 0.5}, all)
		for _, values := range [][]float32{d.source, d.target} {
			for i := range values {
				if values[i] = min(1, max(0, values[i]-2.3)*1e6); i%testColumns < 2 {
					values[i] = 0 // no rare word
				}
			}
		}
		if d.test(t).P < Significance {
			rare++
		}
	}
	if few > draws/20 || rare > draws/20 {
		t.Errorf("of %d label shifts %d of few target rows are rejected, %d of rare words", draws, few, rare)
	}
}

// Rows that a column selects, by its value or its size, are told from other class shares, and
// the column is named.
func TestColumnsOfSelectedRows(t *testing.T) {
	for name, c := range map[string]struct {
		keep    func(row []float32) bool
		column  int
		squares bool
	}{
		"a column without a class": {func(x []float32) bool { return x[2] > 0 }, 2, false},
		"a column of the classes":  {func(x []float32) bool { return x[0] > 1.5 }, 0, false},
		"a column's size":          {func(x []float32) bool { return math.Abs(float64(x[3])) < 1 }, 3, true},
	} {
		found := draw(t, 5, 1000, []float64{1. / 3, 1. / 3, 1. / 3}, c.keep).test(t)
		if found.P > 1e-3 || name != "a column of the classes" && (found.Column != c.column || found.Squares != c.squares) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// A value far from all others, a column that never changes and a class without rows decide nothing.
func TestColumnsOfOddRows(t *testing.T) {
	d := draw(t, 9, 150, []float64{0.5, 0.5, 0}, all)
	for i := range d.labels {
		d.source[i*testColumns+3] = 1
	}
	for i := range len(d.target) / testColumns {
		d.target[i*testColumns+3] = 4
	}
	d.target[2] = 1e6
	if found := d.test(t); found.P < Significance || found.Column == 3 {
		t.Errorf("%+v", found)
	}
	if _, err := NewColumnSums(sampletest.Of(t)(3, nil, nil, nil), nil, 2); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("%v of no rows", err)
	}
}

// Columns that never change in the source are no part of the distance.
func TestDistanceOfColumnsThatVary(t *testing.T) {
	d := draw(t, 3, 150, []float64{1. / 3, 1. / 3, 1. / 3}, all)
	for i := range len(d.target) / testColumns {
		d.target[i*testColumns+2] += 2
	}
	before := d.test(t).Distance
	for i := range d.labels {
		d.source[i*testColumns+3] = 1
	}
	if found := d.test(t).Distance; before < 0.9 || found < 1.05*before {
		t.Errorf("%v, with a column less that varies, and agrees, %v", before, found)
	}
}
