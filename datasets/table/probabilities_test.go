package table

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// probabilities writes a row of them as CSV.
func probabilities(t *testing.T, row ...float64) string {
	var names, cells []string
	for class, p := range row {
		names, cells = append(names, fmt.Sprint("probability_", class)), append(cells, fmt.Sprint(p))
	}
	return write(t, "rows.csv", strings.Join(names, ",")+"\n"+strings.Join(cells, ",")+"\n")
}

// The sum of rounded probabilities may differ from 1 by as much as three digits bring it, and is 1 then.
func TestRoundedProbabilities(t *testing.T) {
	hundred := make([]float64, 100)
	for class := range hundred {
		hundred[class] = 0.0105
	}
	for _, row := range [][]float64{{0.5, 0.501}, {0.5, 0.499}, {0.114, 0.887}, {0.334, 0.665}, {0.2, 0.2, 0.2, 0.2, 0.1975}, hundred} {
		got := contentOf(t, file(probabilities(t, row...), Options{}))
		var sum, was float64
		for class, p := range got.Values {
			sum, was = sum+float64(p), was+row[class]
		}
		if math.Abs(sum-1) > float32Rounding || math.Abs(float64(got.Values[0])-row[0]/was) > float32Rounding {
			t.Errorf("%v becomes %v", row, got.Values)
		}
	}
	hundred[0] += 0.002
	for _, row := range [][]float64{{0.5, 0.502}, {0.2, 0.2, 0.2, 0.2, 0.197}, hundred} {
		refused(t, probabilities(t, row...), Options{}, "not 1; divide each row by its sum")
	}
	refused(t, probabilities(t, make([]float64, 2000)...), Options{}, ":2: the probabilities sum to 0, not 1")
	refused(t, probabilities(t, 0.7), Options{}, `:2: column "probability_0": 0.7 is the only probability of the row; each class needs a column`)
	// Rows of an array that would be mapped are divided too.
	array := contentOf(t, file(write(t, "rows.npy", npyOf("<f2", "(1, 2)", "\x00\x38\x02\x38")), Options{Kind: Probabilities})) // 0.5, 0.501
	if p := array.Values; p[0] != 0.4995121955871582 || p[1] != 0.5004878044128418 {
		t.Error(p)
	}
}
