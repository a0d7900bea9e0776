package shifttest

import (
	"slices"
	"testing"

	"iwda/weightest/internal/sampletest"
)

func TestBinsOfCertainty(t *testing.T) {
	// 36 rows predicted as class 0 in twelve degrees of certainty, half of them source
	// rows; 11 as class 1, all alike; 4 as class 2.
	var source, target []float64
	var labels []int
	for i := range 18 {
		c := 0.5 + float64(i%6)/20
		source, labels = append(source, c, 1-c, 0), append(labels, i%3)
		target = append(target, c+0.01, 0.99-c, 0)
	}
	target = append(target, slices.Repeat([]float64{0, 1, 0}, 11)...)
	source, labels = append(source, slices.Repeat([]float64{0.1, 0.1, 0.8}, 4)...), append(labels, 2, 2, 2, 2)
	s := sampletest.Of(t)(3, source, labels, target)
	counts := binCertainty(s)
	// Thirds of class 0; class 1, with the few of class 2.
	if want := []float64{6, 6, 6, 11}; !slices.Equal(counts.target, want) {
		t.Errorf("target rows %v, want %v", counts.target, want)
	}
	for y, want := range [][]float64{{3, 3, 0, 0}, {3, 0, 3, 0}, {0, 3, 3, 4}} {
		if !slices.Equal(counts.source[y], want) {
			t.Errorf("source rows of class %d %v, want %v", y, counts.source[y], want)
		}
	}
}

// Of a classifier that is sure of most rows those make a bin, and the others one.
func TestEqualCertaintiesAreOneBin(t *testing.T) {
	rows := slices.Concat(slices.Repeat([]float64{1, 0}, 30), slices.Repeat([]float64{0.6, 0.4}, 10))
	s := sampletest.Of(t)(2, rows, slices.Concat(make([]int, 30), slices.Repeat([]int{1}, 10)), rows)
	counts := binCertainty(s)
	if want := []float64{10, 30}; !slices.Equal(counts.target, want) {
		t.Errorf("target rows %v, want %v", counts.target, want)
	}
	if !slices.Equal(counts.source[0], []float64{0, 30}) || !slices.Equal(counts.source[1], []float64{10, 0}) {
		t.Errorf("source rows %v", counts.source)
	}
}
