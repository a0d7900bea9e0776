package weightest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

func TestRatios(t *testing.T) {
	got := Ratios([]float64{0.1, 0.3, 0.5, 0.1}, []float64{0.4, 0.1, 0.5, 0})
	if want := []float64{0.25, 3, 1, 0}; floats.Distance(got, want, math.Inf(1)) > 1e-15 {
		t.Errorf("ratios %v, want %v", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic where the numbers of classes differ")
		}
	}()
	Ratios([]float64{0.5, 0.5}, []float64{1})
}

func TestCorrect(t *testing.T) {
	got := must.Have(Correct([]float64{0.5, 0.5, 0.8, 0.2, 1, 0}, []float64{0.2, 0.8}, []float64{0.5, 0.5}))(t)
	if d := weighttest.LargestDifference(got, []float64{0.2, 0.8, 0.5, 0.5, 1, 0}); d > 1e-15 {
		t.Errorf("corrected %v", got)
	}
	for name, test := range map[string]struct {
		p, q, trained []float64
		want          error
		text          string
	}{
		"no training share": {[]float64{0.5, 0.5}, []float64{0.5, 0.5}, []float64{1, 0}, ErrMissingClass, "class 1"},
		"impossible row":    {[]float64{0.5, 0.5, 0, 1}, []float64{1, 0}, []float64{0.5, 0.5}, ErrInvalidRow, "row 1"},
		"negative":          {[]float64{0.5, 0.5}, []float64{2, -1}, []float64{0.5, 0.5}, ErrInvalidProblem, "target distribution"},
		"empty":             {[]float64{0.5, 0.5}, []float64{1, 1}, []float64{0, 0}, ErrInfeasible, "training distribution"},
	} {
		if _, err := Correct(test.p, test.q, test.trained); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
