package shifttest

import (
	"testing"

	"iwda/internal/must"
	"iwda/weightest"
)

// Lengths that do not fit are a mistake in the program, and are not read as other rows.
func TestColumnSumsOfWrongLengths(t *testing.T) {
	s := must.Have(weightest.SampleOf(2, []float64{0.8, 0.2, 0.3, 0.7}, []int{0, 1}, []float64{0.3, 0.7}))(t)
	sums := func() *ColumnSums {
		return must.Have(NewColumnSums(s, []float64{0.5, 0.5}, 2))(t)
	}
	for name, call := range map[string]func(){
		"a share of two classes":      func() { _, _ = NewColumnSums(s, []float64{1}, 2) },
		"more values than labels":     func() { sums().AddSource([]float32{1, 2, 3, 4}, []int{0}, nil) },
		"no whole row of the target":  func() { sums().AddTarget([]float32{1, 2, 3}) },
		"more rows than the target's": func() { sums().AddTarget([]float32{1, 2, 3, 4}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic: %s", name)
				}
			}()
			call()
		}()
	}
}
