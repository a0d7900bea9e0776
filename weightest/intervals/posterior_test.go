package intervals

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"iwda/weightest"
)

// sumsOf returns the sums of one-hot rows: source[y][c] rows of class y and target[c]
// rows predicted as c.
func sumsOf(t *testing.T, source [][]int, target []int) *weightest.Sums {
	t.Helper()
	k := len(target)
	s := weightest.NewSums(k)
	oneHot := func(class int) []float64 {
		row := make([]float64, k)
		row[class] = 1
		return row
	}
	for y, counts := range source {
		for c, count := range counts {
			if err := s.AddSource(oneHot(c), []int{y}, []int{count}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for c, count := range target {
		if err := s.AddTarget(oneHot(c), []int{count}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func columnOf(draws [][]float64, class int) []float64 {
	values := make([]float64, len(draws))
	for i, draw := range draws {
		values[i] = draw[class]
	}
	return values
}

// For two classes the posterior is integrated over a grid: q, P(0|0) and P(0|1) are
// independent Beta numbers before the target, whose likelihood is binomial.
func TestPosteriorAgainstIntegration(t *testing.T) {
	for _, test := range []struct {
		source [][]int
		target []int
	}{
		{[][]int{{8, 2}, {3, 9}}, []int{12, 5}},
		{[][]int{{40, 10}, {5, 20}}, []int{10, 70}},
		{[][]int{{3, 3}, {2, 2}}, []int{4, 1}}, // C is singular
		{[][]int{{6, 1}, {0, 0}}, []int{2, 5}}, // class 1 has no source rows
	} {
		const steps = 120
		var weight, mean, square float64
		f, n := test.source, test.target
		for a := range steps {
			for b := range steps {
				for c := range steps {
					q, first, second := (float64(a)+0.5)/steps, (float64(b)+0.5)/steps, (float64(c)+0.5)/steps
					predicted := q*first + (1-q)*second
					density := math.Exp(float64(f[0][0])*math.Log(first) + float64(f[0][1])*math.Log(1-first) +
						float64(f[1][0])*math.Log(second) + float64(f[1][1])*math.Log(1-second) +
						float64(n[0])*math.Log(predicted) + float64(n[1])*math.Log(1-predicted))
					weight += density
					mean += density * q
					square += density * q * q
				}
			}
		}
		mean /= weight
		deviation := math.Sqrt(square/weight - mean*mean)
		posterior, err := SamplePosterior(sumsOf(t, test.source, test.target), PosteriorSettings{Seed: 1, EffectiveDraws: 2000, Prior: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := columnOf(posterior.Shares, 0)
		gotMean, gotDeviation := stat.MeanStdDev(got, nil)
		tolerance := 4 * deviation / math.Sqrt(posterior.EffectiveDraws)
		if math.Abs(gotMean-mean) > tolerance || math.Abs(gotDeviation-deviation) > tolerance {
			t.Errorf("%v: share %v ± %v, want %v ± %v", test, gotMean, gotDeviation, mean, deviation)
		}
	}
}

// A classifier without errors: q ~ Dirichlet(1 + N) and p ~ Dirichlet(1 + n), independent.
func TestPosteriorOfPerfectClassifier(t *testing.T) {
	posterior, err := SamplePosterior(sumsOf(t, [][]int{{1e6, 0, 0}, {0, 2e6, 0}, {0, 0, 1e6}}, []int{60, 30, 0}), PosteriorSettings{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for y, want := range []float64{61. / 93, 31. / 93, 1. / 93} {
		deviation := math.Sqrt(want * (1 - want) / 94)
		mean, got := stat.MeanStdDev(columnOf(posterior.Shares, y), nil)
		tolerance := 5 * deviation / math.Sqrt(posterior.EffectiveDraws)
		if math.Abs(mean-want) > tolerance || math.Abs(got-deviation) > 3*tolerance {
			t.Errorf("share of class %d: %v ± %v, want %v ± %v", y, mean, got, want, deviation)
		}
		prior := []float64{0.25, 0.5, 0.25}[y]
		if mean := stat.Mean(columnOf(posterior.Weights, y), nil); math.Abs(mean*prior-want) > tolerance+1e-3*want {
			t.Errorf("weight of class %d: %v, want %v", y, mean, want/prior)
		}
	}
}

// Rows of the target one by one and their numbers at once are the same multinomial.
func TestPosteriorWithManyRows(t *testing.T) {
	source := [][]int{{70, 20, 10}, {15, 80, 5}, {5, 25, 70}}
	few, err := SamplePosterior(sumsOf(t, source, []int{fewRows * 3, fewRows * 2, fewRows}), PosteriorSettings{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	many, err := SamplePosterior(sumsOf(t, source, []int{fewRows*3 + 1, fewRows * 2, fewRows}), PosteriorSettings{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for y := range source {
		a, deviation := stat.MeanStdDev(columnOf(few.Shares, y), nil)
		b := stat.Mean(columnOf(many.Shares, y), nil)
		if math.Abs(a-b) > 0.25*deviation {
			t.Errorf("class %d: %v by rows, %v by numbers, deviation %v", y, a, b, deviation)
		}
	}
}

func TestPosteriorIsDecidedByItsSeed(t *testing.T) {
	s := sumsOf(t, [][]int{{8, 2}, {3, 9}}, []int{12, 5})
	draw := func(seed uint64) Posterior {
		p, err := SamplePosterior(s, PosteriorSettings{Seed: seed, EffectiveDraws: 10})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if !reflect.DeepEqual(draw(1), draw(1)) {
		t.Error("two samplers of one seed differ")
	}
	if reflect.DeepEqual(draw(1).Shares[0], draw(2).Shares[0]) {
		t.Error("another seed draws the same")
	}
}

func TestPosteriorHardCases(t *testing.T) {
	for name, s := range map[string]*weightest.Sums{
		"one class":             sumsOf(t, [][]int{{5}}, []int{3}),
		"a single row":          sumsOf(t, [][]int{{1, 0}, {0, 0}}, []int{0, 1}),
		"never predicted":       sumsOf(t, [][]int{{9, 0, 1}, {4, 0, 4}, {2, 0, 8}}, []int{7, 0, 9}),
		"C singular":            sumsOf(t, [][]int{{5, 5}, {5, 5}}, []int{90, 10}),
		"absent in the target":  sumsOf(t, [][]int{{50, 0}, {0, 50}}, []int{100, 0}),
		"absent in the source":  sumsOf(t, [][]int{{50, 0}, {0, 0}}, []int{50, 50}),
		"predictions of no one": sumsOf(t, [][]int{{50, 0, 0}, {0, 50, 0}, {0, 0, 50}}, []int{1, 2, 1000000}),
	} {
		p, err := SamplePosterior(s, PosteriorSettings{EffectiveDraws: 100})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		requireIntervals(t, p.Intervals(0.95))
	}
	if _, err := SamplePosterior(weightest.NewSums(2), PosteriorSettings{}); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("no rows: %v", err)
	}
	slow, err := SamplePosterior(sumsOf(t, [][]int{{500, 499}, {499, 500}}, []int{9000, 9000}), PosteriorSettings{MaxSweeps: 1500, Prior: 1})
	if err != nil {
		t.Fatal(err)
	}
	if slow.EffectiveDraws >= fewDraws || !strings.Contains(slow.Intervals(0.95).Warning, "independent draws") {
		t.Errorf("a sampler that hardly moves: %v draws, warning %q", slow.EffectiveDraws, slow.Intervals(0.95).Warning)
	}
}

// An autoregression x_t = φ x_{t-1} + e_t is worth n(1-φ)/(1+φ) draws.
func TestEffectiveSize(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, phi := range []float64{0, 0.5, 0.9} {
		series := make([][]float64, 4)
		for i := range series {
			series[i] = make([]float64, 5000)
			x := random.NormFloat64() / math.Sqrt(1-phi*phi)
			for j := range series[i] {
				x = phi*x + random.NormFloat64()
				series[i][j] = x
			}
		}
		want := 20000 * (1 - phi) / (1 + phi)
		if got := effectiveSize(series); math.Abs(got-want) > 0.15*want {
			t.Errorf("φ = %v: %v draws, want %v", phi, got, want)
		}
		for j := range series[0] {
			series[0][j] += 10
		}
		if got := effectiveSize(series); got > 20 {
			t.Errorf("φ = %v: a chain elsewhere leaves %v draws", phi, got)
		}
	}
	if got := effectiveSize([][]float64{{1, 1, 1}, {1, 1, 1}}); got != 6 {
		t.Errorf("constants are worth %v draws, want 6", got)
	}
}

// MaxSweeps bounds a chain however small it is.
func TestPosteriorOfFewSweeps(t *testing.T) {
	s := sumsOf(t, [][]int{{500, 499}, {499, 500}}, []int{9000, 9000})
	for _, most := range []int{3, 300, 1500, 7000} {
		p, err := SamplePosterior(s, PosteriorSettings{MaxSweeps: most, Prior: 1})
		if err != nil {
			t.Fatal(err)
		}
		if p.Sweeps > most || len(p.Shares) != 4*(min(most, 1500)-min(most, 1500)/3) {
			t.Errorf("%d sweeps of %d at most, %d draws", p.Sweeps, most, len(p.Shares))
		}
		requireIntervals(t, p.Intervals(0.95))
	}
}
