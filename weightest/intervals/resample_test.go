package intervals

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest/internal/weighttest"
)

func TestResamplesArePoisson(t *testing.T) {
	const rows, replicas = 2000, 100
	keys, counts := make([]uint64, rows), make([]int, rows)
	rowKeys(keys, 7, sourceDomain, numbers(len(keys), nil))
	var seen [8]float64
	for replica := range replicas {
		poissonCounts(counts, keys, replica)
		for _, c := range counts {
			seen[min(c, len(seen)-1)]++
		}
	}
	var statistic float64
	probability, left := 1/math.E, 1.0
	for c, observed := range seen {
		if c == len(seen)-1 {
			probability = left
		}
		expected := probability * rows * replicas
		statistic += (observed - expected) * (observed - expected) / expected
		left -= probability
		probability /= float64(c + 1)
	}
	if p := (distuv.ChiSquared{K: float64(len(seen) - 1)}).Survival(statistic); p < 1e-3 {
		t.Errorf("counts %v are not Poisson: p = %v", seen, p)
	}
}

// What a table of 256 leaves open is looked up: both ways agree at the bounds.
func TestPoissonBounds(t *testing.T) {
	tail := 1.0
	probability := 1 / math.E
	for c, bound := range poissonBounds[:8] {
		tail -= probability
		weighttest.CloseTo(t, fmt.Sprintf("P(N > %d)", c), float64(-bound)/0x1p64, tail, 1e-9)
		probability /= float64(c + 1)
	}
	if !slices.IsSorted(poissonBounds[:]) {
		t.Errorf("bounds %v are not sorted", poissonBounds)
	}
	for i, count := range poissonTable {
		first := uint64(i) << 56
		want := 0
		for want < len(poissonBounds) && first >= poissonBounds[want] {
			want++
		}
		if count >= 0 && int(count) != want {
			t.Errorf("table[%d] = %d, want %d", i, count, want)
		}
	}
}

// numbersFrom are first, first+1, …, n of them.
func numbersFrom(first uint64, n int) []uint64 {
	all := numbers(n, nil)
	for i := range all {
		all[i] += first
	}
	return all
}

// Intervals stay those of later versions.
func TestResamplesStayAsTheyAre(t *testing.T) {
	keys, counts := make([]uint64, 12), make([]int, 12)
	rowKeys(keys, 1, targetDomain, numbersFrom(1000, len(keys)))
	poissonCounts(counts, keys, 3)
	if want := []int{0, 1, 0, 3, 0, 0, 0, 1, 1, 2, 5, 2}; !slices.Equal(counts, want) {
		t.Errorf("counts %v, want %v", counts, want)
	}
}

func TestResamplesAreIndependent(t *testing.T) {
	const rows = 20000
	draw := func(seed uint64, of domain, first uint64, replica int) []float64 {
		keys, counts := make([]uint64, rows), make([]int, rows)
		rowKeys(keys, seed, of, numbersFrom(first, len(keys)))
		poissonCounts(counts, keys, replica)
		values := make([]float64, rows)
		for i, c := range counts {
			values[i] = float64(c)
		}
		return values
	}
	base := draw(1, sourceDomain, 0, 0)
	for name, other := range map[string][]float64{
		"seed":    draw(2, sourceDomain, 0, 0),
		"domain":  draw(1, targetDomain, 0, 0),
		"row":     draw(1, sourceDomain, 1, 0),
		"replica": draw(1, sourceDomain, 0, 1),
	} {
		if r := stat.Correlation(base, other, nil); math.Abs(r) > 4/math.Sqrt(rows) {
			t.Errorf("another %s has correlation %v", name, r)
		}
	}
	if !slices.Equal(base[5:], draw(1, sourceDomain, 5, 0)[:rows-5]) {
		t.Error("a row's counts depend on the rows before it")
	}
}
