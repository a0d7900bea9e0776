package simplex

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestIterationLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const k = 31
	for range 100 {
		a, b, d := mat.NewDense(k, k, nil), make([]float64, k), make([]float64, k)
		for j := range k {
			for i := range k {
				a.Set(i, j, r.ExpFloat64())
			}
			a.Set(j, j, a.At(j, j)+3)
			b[j], d[j] = r.ExpFloat64(), r.ExpFloat64()
		}
		_, iterations, err := Scale(a, b, d).solve(1000)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Scale(a, b, d).solve(1)
		if errors.Is(err, ErrNoConvergence) != (iterations > 1) {
			t.Fatalf("one of %d iterations: error %v", iterations, err)
		}
		if err != nil {
			return
		}
	}
	t.Error("no program took more than one iteration")
}

// Where columns explain the target in several ways, what rounding leaves of multipliers must not free and fix a
// variable in turn.
func TestSeveralSolutions(t *testing.T) {
	const n = 10
	random := rand.New(rand.NewPCG(0, 7))
	for i := range 500 {
		p := New(n, n-2)
		for j := range n {
			column := p.Column(j)
			for i := range column {
				column[i] = random.ExpFloat64()
			}
			floats.Scale(1/floats.Norm(column, 2), column)
			p.Equality[j] = 1
			floats.AddScaled(p.Target, random.ExpFloat64()/n, column)
		}
		if _, err := p.Solve(); err != nil {
			t.Errorf("program %d: %v", i, err)
		}
	}
}
