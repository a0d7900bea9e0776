package normalise

import (
	"math"
	"slices"
	"testing"
)

func TestMarks(t *testing.T) {
	for name, test := range map[string]struct {
		column []float32
		want   []Mark
	}{
		"least":                {[]float32{0.5, -999, 1, -999, 2}, []Mark{{0, -999, 2}}},
		"largest":              {[]float32{99, 0.5, 1, 99, 2, 99}, []Mark{{0, 99, 3}}},
		"first of all":         {[]float32{-1, -1, 5, 6, 5.5}, []Mark{{0, -1, 2}}},
		"in one row":           {[]float32{0.5, -999, 1, 2}, nil},
		"in one row, far off":  {[]float32{0.5, -9999, 1, 2}, []Mark{{0, -9999, 1}}},
		"near":                 {[]float32{0, 0, 1, 2, 1.5}, nil},
		"two values":           {[]float32{0, 1, 0, 1}, nil},
		"one value":            {[]float32{3, 3, 3}, nil},
		"zeros and numbers":    {[]float32{0, 0, 0, 0.1, 3}, nil},
		"others are all alike": {[]float32{-999, 2, 2, -999}, nil},
	} {
		if got := Marks(vectors(t, 1, test.column...)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestCounting(t *testing.T) {
	const rows, columns = 12, 6
	values := make([]float32, 0, rows*columns)
	for i := range rows {
		n := float32(i)
		late := n
		if i == rows-1 {
			late++
		}
		values = append(values, n, 1e6-3*n, 7, n*n, late, float32(i%3))
	}
	if got := Counting(vectors(t, columns, values...)); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("columns %v count the rows, want 0 and 1", got)
	}
	if got := Counting(vectors(t, columns, values[:9*columns]...)); got != nil {
		t.Errorf("columns %v count nine rows", got)
	}
}

func TestTooLarge(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, test := range []struct {
		values      []float32
		row, column int
		found       bool
	}{
		{[]float32{0, 1e18, -1e18, 3}, 0, 0, false},
		{[]float32{0, 1, 2, -1.01e18}, 1, 1, true},
		{[]float32{0, 1, 3e38, 1e38}, 1, 0, true},
	} {
		row, column, value, found := TooLarge(vectors(t, 2, test.values...))
		if row != test.row || column != test.column || found != test.found || found && value != test.values[2*row+column] {
			t.Errorf("%v: row %d, column %d, value %v, %v", test.values, row, column, value, found)
		}
	}
	// Finite values far apart are infinitely far from their mean.
	set := vectors(t, 1, 3e38, -3e38, 3e38, 3e38)
	if row, column, value, found := TooLarge(standardised(set, StatisticsOf(set))); row != 1 || column != 0 || value != -inf || !found {
		t.Errorf("row %d, column %d, value %v, %v", row, column, value, found)
	}
}
