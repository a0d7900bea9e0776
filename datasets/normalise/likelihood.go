package normalise

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/simd"
)

// secondMoments are the means of the columns of rows and of all their products.
type secondMoments struct {
	mean     []float64
	products *mat.SymDense
}

func secondMomentsOf(rows *mat.Dense) secondMoments {
	n, d := rows.Dims()
	m := secondMoments{make([]float64, d), mat.NewSymDense(d, nil)}
	for i := range n {
		floats.Add(m.mean, rows.RawRowView(i))
	}
	floats.Scale(1/float64(n), m.mean)
	raw := m.products.RawSymmetric()
	simd.AddRowGram(raw.Data, raw.Stride, rows.RawMatrix().Data, d)
	m.products.ScaleSym(1/float64(n), m.products)
	return m
}

// logDensity returns the mean logarithm of the density of rows under the shares, but for
// terms that no map changes, once they are brought to the given mean and deviation; nil
// leaves them as they are. The map's determinant is part of it: a map that shrinks the rows
// to where the classes are dense explains nothing. meanLogSum is the mean logarithm of
// Σ_class share·e^score.
func (c discriminant) logDensity(meanLogSum float64, rows secondMoments, mean, deviation []float64) float64 {
	d := len(rows.mean)
	if deviation == nil {
		mean, deviation = make([]float64, d), make([]float64, d)
		floats.AddConst(1, deviation)
	}
	logDeterminant, square := 0.0, 0.0
	for i := range d {
		logDeterminant += math.Log(deviation[i])
		for j := range d {
			product := deviation[i]*deviation[j]*rows.products.At(i, j) + mean[i]*mean[j] +
				deviation[i]*rows.mean[i]*mean[j] + mean[i]*deviation[j]*rows.mean[j]
			square += c.precision.At(i, j) * product
		}
	}
	return meanLogSum - square/2 + logDeterminant
}
