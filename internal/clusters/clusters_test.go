package clusters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestDense(t *testing.T) {
	if of, count := Dense([]int{7, 3, 7, 9}, 4); !slices.Equal(of, []int{0, 1, 0, 2}) || count != 3 {
		t.Errorf("%v, %d", of, count)
	}
	if of, count := Dense(nil, 3); !slices.Equal(of, []int{0, 1, 2}) || count != 3 {
		t.Errorf("%v, %d", of, count)
	}
	near(t, "effective groups", Effective([]float64{1, 1, 1, 1}, []int{7, 3, 7, 9}), 16./6, 1e-12)
	near(t, "of rows", Effective([]float64{1, 1, 1, 1}, nil), 4, 0)
}

// Groups of equal size have one degree of freedom less than there are, and their sums stay what they are, to the bit.
func TestEqualGroups(t *testing.T) {
	for _, count := range []int{2, 7, 20, 49} {
		for _, size := range []int{1, 3, 10} {
			var groups []int
			var values []float64
			for group := range count {
				groups = append(groups, slices.Repeat([]int{group}, size)...)
				for row := range size {
					values = append(values, math.Sin(float64(group*size+row)))
				}
			}
			of, _ := Dense(groups, len(groups))
			for _, inflation := range []float64{0.3, 1, 1.7, 5, 40} {
				if got := Degrees(inflation, groups, len(groups)); got != float64(count-1) {
					t.Errorf("%d groups of %d: %v degrees of freedom", count, size, got)
				}
			}
			if !slices.Equal(Deviations(values, groups), Sums(values, of, count)) {
				t.Errorf("%d groups of %d: their sums change", count, size)
			}
		}
	}
	near(t, "degrees of rows", Degrees(1, nil, 30), 29, 0)
}

// A mean of few groups of unequal size is as often as meant so many standard errors from the truth, whether their
// rows are alike or have nothing in common.
func TestUnevenGroups(t *testing.T) {
	const draws = 4000
	for _, alike := range []float64{0, 0.5, 1} {
		random, outside := rand.New(rand.NewPCG(5, 6)), 0
		for range draws {
			var values []float64
			var groups []int
			for group := range 16 {
				size, common := 1+random.IntN(9), random.NormFloat64()
				if random.IntN(10) == 0 {
					size *= 4
				}
				for range size {
					values = append(values, math.Sqrt(alike)*common+math.Sqrt(1-alike)*random.NormFloat64())
					groups = append(groups, group)
				}
			}
			mean, variance := stat.MeanVariance(values, nil)
			n, inflation := float64(len(values)), Inflation(values, groups)
			student := distuv.StudentsT{Sigma: 1, Nu: Degrees(inflation, groups, len(groups))}
			if math.Abs(mean)/math.Sqrt(inflation*variance/n) > student.Quantile(0.975) {
				outside++
			}
		}
		if share := float64(outside) / draws; share < 0.015 || share > 0.055 {
			t.Errorf("correlation %v: %.1f%% of the means are further than 95%% should be", alike, 100*share)
		}
	}
}

// Whole groups, and not more rows than asked for unless one group has more.
func TestRows(t *testing.T) {
	var groups []int
	for group := range 40 {
		groups = append(groups, slices.Repeat([]int{group}, 1+group%5)...)
	}
	for _, most := range []int{1, 3, 20, 60, 119, 120} {
		drawn := Rows(groups, len(groups), most)
		if len(drawn) > max(most, 5) || len(drawn) < most/2 && most > 5 || !slices.IsSorted(drawn) {
			t.Errorf("%d rows of %d: %v", most, len(groups), drawn)
		}
		for i, group := range groups {
			if slices.Contains(drawn, i) != slices.ContainsFunc(drawn, func(j int) bool { return groups[j] == group }) {
				t.Errorf("%d rows: group %d is torn apart", most, group)
			}
		}
	}
}

// Copies of rows add nothing: the variance is as many times as large, and exact intervals are those of rows
// that are there once. The numbers of R's binom.test.
func TestExact(t *testing.T) {
	low, high := ExactOf(45, 50, 0.95)
	near(t, "45 of 50, low", low, 0.7818646, 1e-6)
	near(t, "45 of 50, high", high, 0.9667249, 1e-6)
	low, high = ExactOf(50, 50, 0.95)
	near(t, "50 of 50, low", low, 0.9288783, 1e-6)
	near(t, "50 of 50, high", high, 1, 0)
	var once, copies []float64
	var groups []int
	for i := range 50 {
		right := 1.0
		if i < 5 {
			right = 0
		}
		once = append(once, right)
		copies, groups = append(copies, slices.Repeat([]float64{right}, 4)...), append(groups, slices.Repeat([]int{i}, 4)...)
	}
	low, high = Exact(once, nil, 0.95)
	lowCopies, highCopies := Exact(copies, groups, 0.95)
	near(t, "low of copies", lowCopies, low, 0.01)
	near(t, "high of copies", highCopies, high, 0.01)
	if low, _ := Exact(slices.Repeat([]float64{1}, 200), groups, 0.95); math.Abs(low-0.9288783) > 1e-6 {
		t.Errorf("50 groups of which all rows are right: at least %v", low)
	}
	residuals := make([]float64, len(copies))
	for i, right := range copies {
		residuals[i] = right - 0.9
	}
	near(t, "inflation", Inflation(residuals, groups), 4*50./49, 1e-9)
}

// Exact intervals of rows in groups hold.
func TestExactHolds(t *testing.T) {
	const draws, count = 1000, 30
	random := rand.New(rand.NewPCG(1, 2))
	held := 0
	for range draws {
		var right []float64
		var groups []int
		for group := range count {
			p := math.Sqrt(random.Float64()) // its mean is 2/3
			for range 1 + random.IntN(9) {
				r := 0.0
				if random.Float64() < p {
					r = 1
				}
				right, groups = append(right, r), append(groups, group)
			}
		}
		if low, high := Exact(right, groups, 0.95); low <= 2./3 && 2./3 <= high {
			held++
		}
	}
	if held < draws*94/100 || held > draws*99/100 {
		t.Errorf("%d of %d intervals hold", held, draws)
	}
}
