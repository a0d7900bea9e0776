package adapt

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// projection is rows by their first two principal components.
type projection struct {
	rows      [][2]float64
	explained [2]float64 // the shares of the variance
}

// principal returns the projection of rows of values, which it centres. The subspace is found from
// a random one of a few dimensions more by repeated multiplication (Halko, Martinsson and Tropp
// 2011), at the cost of some passes over the values: components that explain nearly the same may
// be mixed.
func principal(x *mat.Dense) *projection {
	const dimensions, passes = 10, 6
	n, columns := x.Dims()
	total := 0.0
	for j := range columns {
		mean := mat.Sum(x.ColView(j)) / float64(n)
		for i := range n {
			v := x.At(i, j) - mean
			x.Set(i, j, v)
			total += v * v
		}
	}
	size := min(dimensions, n, columns)
	random := rand.New(rand.NewPCG(1, 2))
	basis := mat.NewDense(columns, size, nil)
	basis.Apply(func(int, int, float64) float64 { return random.NormFloat64() }, basis)
	var onto mat.Dense // n × size
	var svd mat.SVD
	for range passes {
		onto.Mul(x, basis)
		svd.Factorize(&onto, mat.SVDThin)
		svd.UTo(&onto)
		basis.Mul(x.T(), &onto)
		svd.Factorize(basis, mat.SVDThin)
		svd.UTo(basis)
	}
	onto.Mul(x, basis)
	svd.Factorize(&onto, mat.SVDThin)
	values := svd.Values(nil)
	svd.UTo(&onto)
	p := &projection{rows: make([][2]float64, n)}
	for c := range min(2, size) {
		if total > 0 {
			p.explained[c] = values[c] * values[c] / total
		}
		for i := range p.rows {
			p.rows[i][c] = values[c] * onto.At(i, c)
		}
	}
	return p
}
