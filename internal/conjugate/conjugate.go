// Package conjugate solves linear equations by products with their matrix alone.
package conjugate

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Solve returns an x at which b - A x (n) is as short as b times the share, by conjugate gradients
// (Hestenes and Stiefel 1952), or where so many products have led. A is symmetric and positive definite, product
// writes A times a vector, and near are about the diagonal of A's inverse, positive; nil stands for equal ones. Lengths are
// those of vectors times the roots of near. Solve ends without an error where rounding makes A indefinite.
func Solve(b, near []float64, share float64, most int, product func(into, of []float64) error) ([]float64, error) {
	x, rest, curved, scaled := make([]float64, len(b)), slices.Clone(b), make([]float64, len(b)), make([]float64, len(b))
	scale := func() float64 {
		copy(scaled, rest)
		if near != nil {
			floats.Mul(scaled, near)
		}
		return floats.Dot(rest, scaled)
	}
	square := scale()
	along := slices.Clone(scaled)
	for end, i := share*share*square, 0; square > end && i < most; i++ {
		if err := product(curved, along); err != nil {
			return nil, err
		}
		curvature := floats.Dot(along, curved)
		if !(curvature > 0) {
			break
		}
		length := square / curvature
		floats.AddScaled(x, length, along)
		floats.AddScaled(rest, -length, curved)
		before := square
		square = scale()
		floats.AddScaledTo(along, scaled, square/before, along)
	}
	return x, nil
}
