package shifttest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// correlated are n rows: two columns that go together, and one of three words.
func correlated(r *rand.Rand, n int, keep func(row []float32) bool) (values []float32) {
	for len(values) < 5*n {
		x := r.NormFloat64()
		row := []float32{float32(x), float32(0.8*x + 0.6*r.NormFloat64()), -0.7, -0.7, -0.7}
		row[2+r.IntN(3)] = 1.4
		if keep(row) {
			values = append(values, row...)
		}
	}
	return values
}

var correlatedColumns = [][]int{{0}, {1}, {2, 3, 4}}

// Rows that were selected along one column, of numbers or of words, are found to be, and along which; those whose
// columns have moved are not. Rows of a group count as one.
func TestSelectedAlong(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	likely := func(x float64) bool { return r.Float64() < 1/(1+math.Exp(-2*x)) }
	for name, c := range map[string]struct {
		keep   func(row []float32) bool
		move   float32 // the second column
		column int     // −1 for none
	}{
		"nothing":      {all, 0, -2},
		"a number":     {func(row []float32) bool { return likely(float64(row[0])) }, 0, 0},
		"words":        {func(row []float32) bool { return row[3] > 0 || r.IntN(4) == 0 }, 0, 2},
		"moved":        {all, 0.6, -1},
		"both":         {func(row []float32) bool { return likely(float64(row[0])) }, -0.8, -1},
		"two of these": {func(row []float32) bool { return likely(float64(row[0])) && (row[3] > 0 || r.IntN(4) == 0) }, 0, -1},
	} {
		wrong, draws := 0, 20
		for range draws {
			source, target := correlated(r, 400, all), correlated(r, 500, c.keep)
			for i := 1; i < len(target); i += 5 {
				target[i] += c.move
			}
			column, p, err := SelectedAlong(source, target, correlatedColumns, nil, nil)
			if err != nil || p < 0.01 != (c.column == -1) || c.column >= 0 && column != c.column {
				wrong++
			}
		}
		if wrong > draws/10 {
			t.Errorf("%s: wrong in %d of %d draws", name, wrong, draws)
		}
	}
}

// Of rows that are alike in groups few are as many as groups: without these, chance looks like a column that has moved.
func TestSelectedAlongOfGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	grouped := func(groups int) (values []float32, of []int) {
		for g := range groups {
			row := correlated(r, 1, all)
			for range 20 {
				values, of = append(values, row[0]+0.1*r.Float32(), row[1]+0.1*r.Float32(), row[2], row[3], row[4]), append(of, g)
			}
		}
		return values, of
	}
	alone, together, draws := 0, 0, 20
	for range draws {
		source, ofSource := grouped(25)
		target, ofTarget := grouped(25)
		if _, p, err := SelectedAlong(source, target, correlatedColumns, ofSource, ofTarget); err != nil || p < 0.01 {
			together++
		}
		if _, p, _ := SelectedAlong(source, target, correlatedColumns, nil, nil); p < 0.01 {
			alone++
		}
	}
	if together > 1 || alone < draws/2 {
		t.Errorf("in %d of %d draws no column explains the others, in %d if groups are not known", together, draws, alone)
	}
}

// Ranges are of about as many rows, have source rows enough, and never divide equal values.
func TestRangesOf(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	codes := make([]float32, 500)
	for i := range codes {
		codes[i] = float32(r.IntN(70))
		if i >= 200 {
			codes[i] += 30 // the largest are the target's alone
		}
	}
	ranges := rangesOf(codes, 200)
	inSource, of := map[int]int{}, map[float32]int{}
	for i, at := range ranges {
		if i < 200 {
			inSource[at]++
		}
		if other, known := of[codes[i]]; known && other != at {
			t.Errorf("%v is in the ranges %d and %d", codes[i], at, other)
		}
		of[codes[i]] = at
	}
	for _, at := range ranges {
		if inSource[at] < fewestRows {
			t.Fatalf("range %d has %d rows of the source", at, inSource[at])
		}
	}
	if len(inSource) < 15 || len(inSource) > mostRanges {
		t.Errorf("%d ranges", len(inSource))
	}
}
