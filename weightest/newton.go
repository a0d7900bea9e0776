package weightest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/conjugate"
	"iwda/internal/convert"
	"iwda/weightest/internal/simplex"
)

const (
	// newtonSteps bounds MLLS's Newton steps; few problems take more than ten.
	newtonSteps = 200
	// roundingViolation is a violation of MLLS's conditions that counts as none: some
	// ten thousand units of rounding of a factor.
	roundingViolation = 1e-12
	// acceptedViolation is the largest violation with which MLLS may end, where steps
	// no longer lower it.
	acceptedViolation = 1e-9
	// leastShare is the least share that a search begins with.
	leastShare = 1e-6
)

// maximise takes Newton steps from the prior, without shares that are next to none, until the violation is that of
// rounding or no longer falls. A step that divides the violation by ten keeps the curvature of the one before.
func (m *mixture) maximise() (best mixtureState, err error) {
	q := convert.Each(m.classes, func(j int) float64 { return max(m.prior[j], leastShare) })
	floats.Scale(1/floats.Sum(q), q)
	s := m.expect(m.evaluate(q))
	best = s
	var curvature *mat.SymDense
	steps := 0
	for stale := 0; s.violation > roundingViolation && steps < newtonSteps; steps++ {
		var x []float64
		if m.many {
			x = m.conjugateStep(s)
		} else {
			if curvature == nil {
				curvature = m.curvature()
			}
			if x, err = m.newtonStep(s, curvature); err != nil {
				return mixtureState{}, err
			}
		}
		next, ok := m.search(s, x)
		if !ok {
			break
		}
		if next = m.expect(next); next.violation > s.violation/10 {
			curvature = nil
		}
		s = next
		if s.violation < best.violation/2 {
			stale = 0
		} else if stale++; stale > 3 && best.violation < acceptedViolation {
			break
		}
		if s.violation < best.violation {
			best = s
		}
	}
	if !(best.violation < acceptedViolation) {
		return mixtureState{}, fmt.Errorf("%w of MLLS in %d Newton steps: the optimality conditions are violated by %.3g", ErrNoConvergence, steps, best.violation)
	}
	return best, nil
}

// expect returns the state s, which was evaluated last, or after some EM steps from there
// where it is far from the optimum: where a few rows decide on a share that is far too
// small, EM sets it at once, while Newton's method doubles it at each step. Further in, a
// few steps of EM still cost less than the curvature.
func (m *mixture) expect(s mixtureState) mixtureState {
	const far, limit = 0.01, 8
	for range limit {
		if s.violation < far {
			break
		}
		floats.Mul(s.gradient, s.q)
		s = m.evaluate(s.gradient)
	}
	return s
}

// newtonStep returns the maximum on the simplex of the quadratic model at s. With g the
// gradient and RᵀR the curvature H, that at s or near it, it is that of
//
//	min ½‖R x - (R q + R⁻ᵀg)‖²   s.t.   x ≥ 0, Σ x = 1.
//
// Without the bounds it is q + H⁻¹(g - λ1) with the λ for which Σ x = 1, and where that is inside it is the maximum.
//
// Classes of next to no use, g_y near 0, get x_y = 0: their columns of R may be so
// short that the model's scales are too far apart. So do classes of next to no share that are of too
// little use to have one: with many classes, most of them, and the time grows with the cube of the others.
func (m *mixture) newtonStep(s mixtureState, h *mat.SymDense) ([]float64, error) {
	const useless, little = 1e-3, 0.99
	var useful []int
	for a, g := range s.gradient {
		if g >= little || g >= useless && s.q[a] > 2*leastShare {
			useful = append(useful, a)
		}
	}
	n := len(useful)
	q, gradient := make([]float64, n), mat.NewVecDense(n, nil)
	curvature := mat.NewSymDense(n, nil)
	for i, a := range useful {
		q[i] = s.q[a]
		gradient.SetVec(i, s.gradient[a])
		for j, b := range useful[:i+1] {
			curvature.SetSym(i, j, h.At(a, b))
		}
	}
	r, err := rootOf(curvature)
	if err != nil {
		return nil, err
	}
	solution := inside(r, q, gradient)
	if solution == nil {
		if solution, err = onSimplex(r, q, gradient); err != nil {
			return nil, err
		}
	}
	x := make([]float64, len(s.q))
	for i, a := range useful {
		x[a] = solution[i]
	}
	return x, nil
}

// inside returns the maximum of newtonStep's model without its bounds; nil unless all shares are above 0.
func inside(r *mat.TriDense, q []float64, gradient *mat.VecDense) []float64 {
	solved := mat.NewDense(len(q), 2, nil) // H⁻¹g and H⁻¹1
	for i := range q {
		solved.SetRow(i, []float64{gradient.AtVec(i), 1})
	}
	lapack64.Potrs(r.RawTriangular(), solved.RawMatrix())
	towards, level := solved.ColView(0), solved.ColView(1)
	lambda := (floats.Sum(q) - 1 + mat.Sum(towards)) / mat.Sum(level)
	x := make([]float64, len(q))
	for i, share := range q {
		if x[i] = share + towards.AtVec(i) - lambda*level.AtVec(i); !(x[i] > 0) {
			return nil
		}
	}
	return x
}

// onSimplex returns the maximum of newtonStep's model.
func onSimplex(r *mat.TriDense, q []float64, gradient *mat.VecDense) ([]float64, error) {
	n := len(q)
	target, along := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	if err := target.SolveVec(r.T(), gradient); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, fmt.Errorf("%w of MLLS: %w", ErrNoConvergence, err)
	}
	along.MulVec(r, mat.NewVecDense(n, q))
	target.AddVec(target, along)
	ones := slices.Repeat([]float64{1}, n)
	solution, err := simplex.Scale(mat.DenseCopyOf(r), target.RawVector().Data, ones).Solve()
	if err != nil {
		return nil, err
	}
	floats.Scale(1/floats.Sum(solution), solution)
	return solution, nil
}

// MostDense is the number of classes up to which systems of as many equations are solved by their
// matrices, whose time grows with its cube; those of more by products with them.
const MostDense = 500

// CheckResamples returns an error for k classes that are too many to resample.
func CheckResamples(k int) error {
	if k <= MostDense {
		return nil
	}
	return fmt.Errorf("resamples of more than %d classes take hours", MostDense)
}

// conjugateStep returns the shares after a Newton step, found by products with the Hessian H, which are
// differences of gradients. As H q = g, the gradient, z = H⁻¹1 is near q, and the step leads from q to 2q - z/Σz.
// Shares fall to a hundredth at most.
func (m *mixture) conjugateStep(s mixtureState) []float64 {
	const most, lowest, nearby = 100, 0.01, 1e-6
	rest := convert.Each(s.gradient, func(g float64) float64 { return 1 - g }) // 1 - H q
	z, _ := conjugate.Solve(rest, s.q, max(1e-3, min(0.1, s.violation)), most, func(into, along []float64) error {
		length := nearby / floats.Norm(floats.DivTo(into, along, s.q), math.Inf(1))
		next := m.differentiate(floats.AddScaledTo(make([]float64, len(along)), s.q, length, along))
		floats.Scale(1/length, floats.SubTo(into, s.gradient, next.gradient))
		return nil
	}) // less q; without an error
	total, x := floats.Sum(z), make([]float64, len(z))
	for a, q := range s.q {
		x[a] = max(q+(q*total-z[a])/(1+total), lowest*q)
	}
	floats.Scale(1/floats.Sum(x), x)
	if !(floats.Dot(s.gradient, x) > 1) { // g·q is 1: one step of EM, which always leads upwards
		floats.MulTo(x, s.q, s.gradient)
	}
	return x
}

// rootOf returns an upper triangular R with RᵀR = H, and with a little more on the
// diagonal where H is singular. mat.Cholesky would also estimate H's condition, which nothing reads.
func rootOf(h *mat.SymDense) (*mat.TriDense, error) {
	n := h.SymmetricDim()
	unit := make([]float64, n)
	scaled := mat.NewSymDense(n, nil)
	for shift := 1e-14; shift < 1; shift *= 100 {
		for a := range n {
			unit[a] = math.Sqrt(h.At(a, a))
			for b := range a + 1 {
				if unit[a] > 0 && unit[b] > 0 {
					scaled.SetSym(b, a, h.At(b, a)/unit[a]/unit[b])
				}
			}
			scaled.SetSym(a, a, 1+shift)
		}
		factor, ok := lapack64.Potrf(scaled.RawSymmetric())
		if !ok {
			continue
		}
		r := mat.NewTriDense(n, mat.Upper, factor.Data)
		for a := range n {
			for b := a; b < n; b++ {
				if unit[b] > 0 {
					r.SetTri(a, b, r.At(a, b)*unit[b])
				}
			}
		}
		return r, nil
	}
	return nil, fmt.Errorf("%w of MLLS: the Hessian is not finite", ErrNoConvergence)
}

// search returns the state at x, or at a point between s.q and x where the likelihood
// does not rise enough, and reports whether there is one at which it rises, or stays the
// same up to rounding.
func (m *mixture) search(s mixtureState, x []float64) (mixtureState, bool) {
	direction := make([]float64, len(x))
	floats.SubTo(direction, x, s.q)
	slope := floats.Dot(s.gradient, direction)
	rounding := 1e-14 * (1 + math.Abs(s.likelihood))
	step := 1.0
	for range 50 {
		next := slices.Clone(x)
		if step < 1 {
			floats.ScaleTo(next, 1-step, s.q)
			floats.AddScaled(next, step, x)
		}
		if state := m.evaluate(next); state.likelihood >= s.likelihood+1e-4*step*slope-rounding {
			return state, true
		}
		step /= 2
	}
	return s, false
}
