package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest"
)

// cone is the second-order cone problem of rlls,
//
//	min F(θ) = ‖C θ - b‖ + ρ‖θ‖   s.t.   θ ≥ -1,
//
// solved on faces: where the bounded θ_j are -1 and the others free of bounds, one
// number λ gives the solution (see solveFace).
type cone struct {
	c       *mat.Dense
	b       []float64
	rho     float64
	bounded []bool
	// face is the solution of the face, and dual a subgradient u of ‖C θ - b‖ there
	// with (Cᵀu + ρθ/‖θ‖)_j = 0 for every free j.
	face, dual []float64
}

// epsilon is the unit of rounding of float64.
const epsilon = 0x1p-53

// lowestTheta is -1, less what counts as rounding.
const lowestTheta = -1 - 1e-13

// coneSolution is a solution of a cone problem. gap is the duality gap: the difference between
// the objective and a lower bound of the objective of every feasible θ, from a point of the
// dual problem
//
//	max -u·b - Σ_j z_j   s.t.   ‖u‖ ≤ 1, z ≥ 0, ‖Cᵀu - z‖ ≤ ρ.
//
// It is 0 up to rounding at the optimum.
type coneSolution struct {
	raw            []float64 // 1 + θ, length k, none negative
	bounded        []int     // the classes with θ_j = -1, in rising order
	objective, gap float64
}

// solveCone starts with block pivoting, all bounds that are wrong at once; where that
// does not settle, the primal method does.
func solveCone(c *mat.Dense, b []float64, rho float64) (coneSolution, error) {
	k := len(b)
	s := &cone{c: c, b: b, rho: rho, bounded: make([]bool, k), face: make([]float64, k), dual: make([]float64, k)}
	done, err := s.blockPivot()
	if err == nil && !done {
		err = s.primal()
	}
	if err != nil {
		return coneSolution{}, err
	}
	return s.solution(), nil
}

// blockPivot reports whether it came to a face whose solution is the optimum.
func (s *cone) blockPivot() (bool, error) {
	const rounds = 12
	for range rounds {
		if err := s.solveFace(); err != nil {
			return false, err
		}
		settled := true
		multipliers := s.multipliers()
		for j, bounded := range s.bounded {
			if bounded && multipliers[j] < s.dualLimit() || !bounded && s.face[j] < lowestTheta {
				s.bounded[j] = !bounded
				settled = false
			}
		}
		if settled {
			return true, nil
		}
	}
	return false, nil
}

// primal starts at θ = 0, which is feasible, and lowers F at every step: towards the
// solution of the face until a bound is in the way, which becomes active; at the
// solution of a face the bound with the most negative multiplier is given up. As F
// falls from one face's solution to the next, no face is seen twice.
func (s *cone) primal() error {
	clear(s.bounded)
	theta := make([]float64, len(s.b))
	lowest := math.Inf(1)
	for range 100 * len(s.b) {
		if err := s.solveFace(); err != nil {
			return err
		}
		if s.stepTowardsFace(theta) {
			continue
		}
		multipliers := s.multipliers()
		for j, bounded := range s.bounded {
			if !bounded {
				multipliers[j] = 0
			}
		}
		value := s.objective(s.face)
		if j := floats.MinIdx(multipliers); multipliers[j] < s.dualLimit() && value < lowest {
			lowest = value
			s.bounded[j] = false
			continue
		}
		return nil
	}
	return fmt.Errorf("%w of rlls with %d classes", weightest.ErrNoConvergence, len(s.b))
}

// stepTowardsFace moves θ towards the solution of the face until the first bound is
// reached, makes that bound active, and reports whether there was one.
func (s *cone) stepTowardsFace(theta []float64) bool {
	fraction, blocking := 1.0, -1
	for j, v := range s.face {
		if s.bounded[j] || v >= lowestTheta {
			continue
		}
		if f := (theta[j] + 1) / (theta[j] - v); f < fraction || blocking < 0 {
			fraction, blocking = f, j
		}
	}
	for j, v := range s.face {
		theta[j] = max(-1, theta[j]+fraction*(v-theta[j]))
	}
	if blocking < 0 {
		return false
	}
	theta[blocking], s.bounded[blocking] = -1, true
	return true
}

// objective returns F(θ).
func (s *cone) objective(theta []float64) float64 {
	var residual mat.VecDense
	residual.MulVec(s.c, mat.NewVecDense(len(theta), theta))
	floats.Sub(residual.RawVector().Data, s.b)
	return floats.Norm(residual.RawVector().Data, 2) + s.rho*floats.Norm(theta, 2)
}

// multipliers returns Cᵀu + ρθ/‖θ‖ at the solution of the face: for a bounded θ_j the
// multiplier of its bound, not negative at the optimum.
func (s *cone) multipliers() []float64 {
	var z mat.VecDense
	z.MulVec(s.c.T(), mat.NewVecDense(len(s.dual), s.dual))
	if norm := floats.Norm(s.face, 2); norm > 0 {
		floats.AddScaled(z.RawVector().Data, s.rho/norm, s.face)
	}
	return z.RawVector().Data
}

// dualLimit is the value below which a multiplier is negative.
func (s *cone) dualLimit() float64 { return -1e-14 * s.rho }

// solution returns the solution of the face.
func (s *cone) solution() coneSolution {
	result := coneSolution{objective: s.objective(s.face)}
	z := s.multipliers()
	gradient := mat.NewVecDense(len(s.dual), nil)
	gradient.MulVec(s.c.T(), mat.NewVecDense(len(s.dual), s.dual))
	for j, bounded := range s.bounded {
		if bounded {
			result.bounded = append(result.bounded, j)
			z[j] = max(0, z[j])
		} else {
			z[j] = 0
		}
		gradient.SetVec(j, gradient.AtVec(j)-z[j])
	}
	// What makes (u, z) feasible where rounding left it outside.
	shrink := 1 / max(1, floats.Norm(s.dual, 2), mat.Norm(gradient, 2)/s.rho)
	result.gap = result.objective + shrink*(floats.Dot(s.dual, s.b)+floats.Sum(z))

	result.raw = make([]float64, len(s.face))
	for j, theta := range s.face {
		result.raw[j] = max(0, 1+theta)
	}
	return result
}

// solveFace minimises F where θ_j = -1 for every bounded j, of which there are a, and
// the others, θ_F, are free. With b' = b + Σ_bounded C_j the optimum is that of
//
//	min ½‖C_F θ_F - b'‖² + ½λ‖θ_F‖²,   λ‖θ‖ = ρ‖C_F θ_F - b'‖,
//
// so that with C_F = U Σ Vᵀ, c = Uᵀb' and b” the part of b' outside U,
//
//	g = (Σ² + λI)⁻¹c,   θ_F = V Σ g,   C_F θ_F - b' = -λ(U g + b''/λ).
//
// The exceptions are θ = 0, where F has no gradient, and λ = 0, where C_F θ_F = b'.
func (s *cone) solveFace() error {
	var free []int
	target := slices.Clone(s.b)
	for j, bounded := range s.bounded {
		if bounded {
			floats.Add(target, mat.Col(nil, j, s.c))
		} else {
			free = append(free, j)
		}
		s.face[j] = -1
	}
	if len(free) == len(s.b) && s.zeroIsOptimal() {
		return nil
	}
	f, err := newFaceSystem(s.c, free, target)
	if err != nil {
		return err
	}
	lambda := f.lambda(s.rho)
	g := f.scaled(lambda)
	theta, u := f.expand(g)
	for i, j := range free {
		s.face[j] = theta[i]
	}
	floats.ScaleTo(s.dual, -1, u)
	if lambda > 0 {
		floats.AddScaled(s.dual, -1/lambda, f.outside)
		floats.Scale(1/floats.Norm(s.dual, 2), s.dual)
	} else if norm := floats.Norm(s.face, 2); norm > 0 {
		// Any u with ‖u‖ ≤ 1 is a subgradient; this one is stationary.
		floats.Scale(s.rho/norm, s.dual)
	}
	return nil
}

// zeroIsOptimal tests ‖Cᵀb‖ ≤ ρ‖b‖, and sets θ = 0 and its dual where it holds.
func (s *cone) zeroIsOptimal() bool {
	norm := floats.Norm(s.b, 2)
	var gradient mat.VecDense
	gradient.MulVec(s.c.T(), mat.NewVecDense(len(s.b), s.b))
	if mat.Norm(&gradient, 2) > s.rho*norm {
		return false
	}
	clear(s.face)
	clear(s.dual)
	if norm > 0 {
		floats.AddScaled(s.dual, -1/norm, s.b)
	}
	return true
}

// faceSystem is C_F θ_F = b' in the coordinates of C_F's singular vectors.
type faceSystem struct {
	free    int
	sigma   []float64 // those that are not zero, in falling order
	u, v    mat.Dense
	along   []float64 // c
	outside []float64 // b'', zero where rounding explains it
	bounded float64   // a
}

func newFaceSystem(c *mat.Dense, free []int, target []float64) (*faceSystem, error) {
	k := len(target)
	f := &faceSystem{free: len(free), outside: slices.Clone(target), bounded: float64(k - len(free))}
	if len(free) == 0 {
		return f, nil
	}
	columns := mat.NewDense(k, len(free), nil)
	for i, j := range free {
		columns.SetCol(i, mat.Col(nil, j, c))
	}
	var svd mat.SVD
	if !svd.Factorize(columns, mat.SVDThin) {
		return nil, fmt.Errorf("%w: C has no singular value decomposition", weightest.ErrNoConvergence)
	}
	f.sigma = svd.Values(nil)[:svd.Rank(2*epsilon*float64(len(free)))]
	svd.UTo(&f.u)
	svd.VTo(&f.v)
	f.along = make([]float64, len(f.sigma))
	// The second pass makes a short b'' orthogonal to U, too.
	for range 2 {
		for i := range f.along {
			column := mat.Col(nil, i, &f.u)
			along := floats.Dot(column, f.outside)
			f.along[i] += along
			floats.AddScaled(f.outside, -along, column)
		}
	}
	// b' is the difference of sums of probabilities.
	if floats.Norm(f.outside, 2) <= 4*epsilon*float64(k) {
		clear(f.outside)
	}
	return f, nil
}

// scaled returns g at λ.
func (f *faceSystem) scaled(lambda float64) []float64 {
	g := make([]float64, len(f.sigma))
	for i, sigma := range f.sigma {
		g[i] = f.along[i] / (sigma*sigma + lambda)
	}
	return g
}

// expand returns θ_F = V Σ g and U g.
func (f *faceSystem) expand(g []float64) (theta, u []float64) {
	theta, u = make([]float64, f.free), make([]float64, len(f.outside))
	for i, sigma := range f.sigma {
		floats.AddScaled(theta, sigma*g[i], mat.Col(nil, i, &f.v))
		floats.AddScaled(u, g[i], mat.Col(nil, i, &f.u))
	}
	return theta, u
}

// lambda returns the λ where
//
//	ψ(λ) = λ‖θ‖/‖C_F θ_F - b'‖ = √(‖Σ g‖² + a) / √(‖g‖² + ‖b''‖²/λ²),
//
// the slope of the curve of least residuals against norms, is ρ. It rises with λ; where
// it starts above ρ, or b' = 0, λ is 0.
func (f *faceSystem) lambda(rho float64) float64 {
	outside := floats.Norm(f.outside, 2)
	slope := func(lambda float64) float64 {
		numerator, denominator := f.bounded, 0.0
		for i, g := range f.scaled(lambda) {
			numerator += f.sigma[i] * g * f.sigma[i] * g
			denominator += g * g
		}
		if outside > 0 {
			denominator += outside / lambda * outside / lambda
		}
		return math.Sqrt(numerator / denominator)
	}
	if outside == 0 && !(slope(0) < rho) {
		return 0
	}
	low, high := 1.0, 1.0
	for slope(low) > rho && low > 1e-100 {
		low /= 16
	}
	for slope(high) < rho && high < 1e100 {
		high *= 16
	}
	for high > low*(1+4*epsilon) {
		middle := math.Sqrt(low * high)
		if middle <= low || middle >= high {
			break
		}
		if slope(middle) < rho {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
