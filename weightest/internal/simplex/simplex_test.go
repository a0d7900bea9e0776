package simplex

import (
	"errors"
	"math/rand/v2"
	"testing"

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
