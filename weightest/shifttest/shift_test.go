package shifttest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/internal/sampletest"
	"iwda/weightest/internal/weighttest"
)

// A class whose expected count is below one is merged, which the reference does not do.
var mergedShiftProblems = []string{"tiny"}

func TestChiSquaredGolden(t *testing.T) {
	weighttest.EachGolden(t, func(t *testing.T, g weighttest.Problem) {
		got := must.Have(ChiSquaredTest(sampletest.Of(g.T)(g.Rows()).Sums()))(t)
		if slices.Contains(mergedShiftProblems, g.Name) {
			// Two classes are counted together: one degree of freedom less.
			if want := int(g.Get("shift/bbsdh/dof")[0]) - 1; got.DegreesOfFreedom != want {
				t.Errorf("%d degrees of freedom, want %d", got.DegreesOfFreedom, want)
			}
			return
		}
		if got.DegreesOfFreedom != int(g.Get("shift/bbsdh/dof")[0]) {
			t.Errorf("%d degrees of freedom", got.DegreesOfFreedom)
		}
		weighttest.CloseTo(t, "statistic", got.Statistic, g.Get("shift/bbsdh/statistic")[0], 1e-12)
		weighttest.CloseTo(t, "p", got.P, g.Get("shift/bbsdh/p")[0], 1e-10)
	})
}

func TestKolmogorovSmirnovGolden(t *testing.T) {
	weighttest.EachGolden(t, func(t *testing.T, g weighttest.Problem) {
		s := sampletest.Of(g.T)(g.Rows())
		got := must.Have(KolmogorovSmirnovTest(s))(t)
		_, labels := s.Source()
		n, m := len(labels), len(s.Target())/s.Classes()
		exact, limit := g.Get("shift/bbsds/p_exact"), g.Get("shift/bbsds/p_limit")
		for class, distance := range g.Get("shift/bbsds/statistic") {
			name := fmt.Sprintf("class %d: ", class)
			weighttest.CloseTo(t, name+"distance", got.Distances[class], distance, 1e-12)
			steps := int(math.Round(distance * float64(n) * float64(m)))
			weighttest.CloseTo(t, name+"exact p", kolmogorovExact(n, m, steps), exact[class], 1e-9)
			x := distance * math.Sqrt(float64(n*m)/float64(n+m))
			weighttest.CloseTo(t, name+"limit", kolmogorovLimit(x), limit[class], 1e-9)
			if got.ClassP[class] != exact[class] && got.ClassP[class] != limit[class] {
				// One of the two, up to rounding.
				if e := math.Abs(got.ClassP[class]/exact[class] - 1); e > 1e-9 {
					weighttest.CloseTo(t, name+"p", got.ClassP[class], limit[class], 1e-9)
				}
			}
		}
		smallest := slices.Min(got.ClassP)
		if got.ClassP[got.Class] != smallest {
			t.Errorf("class %d has p %v, the smallest is %v", got.Class, got.ClassP[got.Class], smallest)
		}
		weighttest.CloseTo(t, "corrected p", got.P, math.Min(1, float64(s.Classes())*smallest), 1e-15)
	})
}

// Every order of two small samples is as likely as the others.
func TestKolmogorovExactCountsOrders(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 2}, {4, 4}, {2, 6}, {5, 3}} {
		n, m := size[0], size[1]
		counts := make(map[int]float64)
		var orders float64
		for order := range 1 << (n + m) {
			var i, j, largest int
			for bit := range n + m {
				if order>>bit&1 == 1 {
					i++
				} else {
					j++
				}
				largest = max(largest, abs(i*m-j*n))
			}
			if i == n {
				counts[largest]++
				orders++
			}
		}
		for steps := 0; steps <= n*m; steps++ {
			var reached float64
			for largest, count := range counts {
				if largest >= steps {
					reached += count
				}
			}
			if got, want := kolmogorovExact(n, m, steps), reached/orders; math.Abs(got-want) > 1e-14 {
				t.Errorf("%d and %d rows, %d steps: %v, want %v", n, m, steps, got, want)
			}
		}
	}
}

func TestKolmogorovLimitIsOneFunction(t *testing.T) {
	below, above := kolmogorovLimit(math.Nextafter(1, 0)), kolmogorovLimit(1)
	weighttest.CloseTo(t, "the two series at 1", below, above, 1e-14)
	for _, x := range []float64{0, 0.01, 0.1} {
		if p := kolmogorovLimit(x); p != 1 {
			t.Errorf("limit(%v) = %v, want 1", x, p)
		}
	}
	// Large samples' exact p approaches it.
	n, m, steps := 3000, 3000, 3000*100
	exact, limit := kolmogorovExact(n, m, steps), kolmogorovLimit(100./3000*math.Sqrt(1500))
	if math.Abs(exact-limit) > 0.01*limit {
		t.Errorf("exact %v, limit %v", exact, limit)
	}
}

func TestKolmogorovStepsWithTies(t *testing.T) {
	if got := kolmogorovSteps([]float64{1, 1, 2}, []float64{1, 2, 2, 2}); got != 5 {
		// F_S(1) = 2/3, F_T(1) = 1/4: 8 - 3 twelfths.
		t.Errorf("steps %d, want 5", got)
	}
	if got := kolmogorovSteps([]float64{1, 1}, []float64{1}); got != 0 {
		t.Errorf("equal values are %d steps apart", got)
	}
}

func TestMergeRareColumns(t *testing.T) {
	for _, test := range []struct {
		name           string
		source, target []float64
		columns        [][2]float64
	}{
		{"nothing rare", []float64{5, 5}, []float64{4, 6}, [][2]float64{{5, 4}, {5, 6}}},
		{"a class of nobody", []float64{5, 0, 5}, []float64{4, 0, 6}, [][2]float64{{5, 4}, {5, 6}}},
		{"often in the target alone", []float64{50, 0, 50}, []float64{40, 50, 10}, [][2]float64{{50, 40}, {0, 50}, {50, 10}}},
		{"one rare class takes the next", []float64{50, 0, 3}, []float64{50, 1, 4}, [][2]float64{{50, 50}, {3, 5}}},
		{"two rare classes", []float64{50, 0, 1, 50}, []float64{50, 1, 0, 50}, [][2]float64{{50, 50}, {50, 50}, {1, 1}}},
		{"one class", []float64{7}, []float64{3}, [][2]float64{{7, 3}}},
	} {
		columns := mergeRareColumns(test.source, test.target)
		slices.SortFunc(columns, func(a, b [2]float64) int { return slices.Compare(b[:], a[:]) })
		slices.SortFunc(test.columns, func(a, b [2]float64) int { return slices.Compare(b[:], a[:]) })
		if !slices.Equal(columns, test.columns) {
			t.Errorf("%s: columns %v, want %v", test.name, columns, test.columns)
		}
	}
}

// Where several p-values are too small for a number, the class is that of the largest distance.
func TestKolmogorovSmirnovOfManyRows(t *testing.T) {
	const n = 20_000
	row := func(i int, halves float64) []float64 { // class 0 moves by half of its range, class 1 by all of it
		v := float64(i%1000) / 4000
		return []float64{v + halves/8, v/4 + halves/4, 1 - v - halves/8 - v/4 - halves/4}
	}
	var source, target []float64
	for i := range n {
		source, target = append(source, row(i, 0)...), append(target, row(i, 1)...)
	}
	got, err := KolmogorovSmirnovTest(sampletest.Of(t)(3, source, make([]int, n), target))
	if err != nil || got.ClassP[0] != 0 || got.ClassP[1] != 0 || !(got.Distances[0] < 0.6) || got.Distances[got.Class] != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestShiftTestsWithoutShift(t *testing.T) {
	one := sampletest.Of(t)(1, []float64{1, 1, 1}, []int{0, 0, 0}, []float64{1, 1})
	counts, err := ChiSquaredTest(one.Sums())
	if err != nil || counts.P != 1 || counts.DegreesOfFreedom != 0 || counts.Statistic != 0 {
		t.Errorf("one class: %+v, %v", counts, err)
	}
	probabilities, err := KolmogorovSmirnovTest(one)
	if err != nil || probabilities.P != 1 || probabilities.Distances[0] != 0 {
		t.Errorf("one class: %+v, %v", probabilities, err)
	}
	two := sampletest.Of(t)(2, []float64{0.9, 0.1, 0.2, 0.8, 0.7, 0.3}, []int{0, 1, 0}, []float64{0.1, 0.9, 0.15, 0.85, 0.05, 0.95})
	probabilities, err = KolmogorovSmirnovTest(two)
	if err != nil || math.Abs(probabilities.P-0.1) > 1e-15 || probabilities.ClassP[0] != probabilities.ClassP[1] {
		// All three target rows are below all three source rows: 2 of 20 orders.
		t.Errorf("two classes are one test: %+v, %v, want p = 0.1", probabilities, err)
	}
	empty := sampletest.Of(t)(2, []float64{0.9, 0.1}, []int{0}, nil)
	if _, err := ChiSquaredTest(empty.Sums()); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("no target rows: %v", err)
	}
	if _, err := KolmogorovSmirnovTest(empty); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("no target rows: %v", err)
	}
}
