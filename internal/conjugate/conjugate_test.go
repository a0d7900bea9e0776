package conjugate

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// matrix is A = diag(1, 100, 10000) + 11ᵀ.
func matrix(into, of []float64) error {
	for i, scale := range []float64{1, 100, 10_000} {
		into[i] = scale*of[i] + floats.Sum(of)
	}
	return nil
}

// The equations are solved, with and without the diagonal's inverse, by as many products as there are unknowns; fewer
// are as many as are allowed.
func TestSolve(t *testing.T) {
	b, want := make([]float64, 3), []float64{1, -2, 3}
	_ = matrix(b, want)
	for _, near := range [][]float64{nil, {0.5, 0.01, 0.0001}} {
		if x, err := Solve(b, near, 1e-10, 20, matrix); err != nil || !floats.EqualApprox(x, want, 1e-8) {
			t.Errorf("%v: %v, %v", near, x, err)
		}
		products := 0
		_, _ = Solve(b, near, 1e-10, 2, func(into, of []float64) error { products++; return matrix(into, of) })
		if products != 2 {
			t.Errorf("%v: %d products", near, products)
		}
	}
	if x, err := Solve(make([]float64, 3), nil, 0.1, 5, matrix); err != nil || floats.Norm(x, 2) != 0 {
		t.Error("of zeros", x, err)
	}
	wrong := errors.New("wrong")
	if _, err := Solve(b, nil, 0.1, 5, func(_, _ []float64) error { return wrong }); err != wrong {
		t.Error(err)
	}
}
