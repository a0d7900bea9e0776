package weightest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest/internal/simd"
)

// mixture is the likelihood of rows f under class shares q, where classes stands for
// those with a prior.
type mixture struct {
	prior   []float64
	classes []int     // with a prior above 0
	rows    *panels   // of these classes; newMixture keeps those that count
	counts  []float64 // of these rows
	total   float64   // Σ counts
	density []float64 // a(x)·q of every row, at
	last    []float64 // the q that was evaluated last
}

func newMixture(rows *Rows, prior []float64) *mixture {
	k := len(prior)
	m := &mixture{prior: prior}
	for j, mass := range prior {
		if mass > 0 {
			m.classes = append(m.classes, j)
		}
	}
	var kept []int
	for i := range len(rows.Probabilities) / k {
		if count := countOf(rows.Counts, i); count > 0 {
			kept = append(kept, i)
			m.counts = append(m.counts, float64(count))
			m.total += float64(count)
		}
	}
	m.rows = newPanels(rows.Probabilities, k, kept, m.classes)
	m.density = make([]float64, len(m.counts))
	return m
}

// mixtureState is the mean log-likelihood at q with its gradient, over the classes with
// a prior.
type mixtureState struct {
	q          []float64
	likelihood float64
	gradient   []float64
	violation  float64
}

// evaluate returns the state at q and sets the densities.
func (m *mixture) evaluate(q []float64) mixtureState {
	s := m.differentiate(q)
	s.likelihood = simd.SumLogs(m.density, m.counts) / m.total
	return s
}

// differentiate is evaluate without the likelihood.
func (m *mixture) differentiate(q []float64) mixtureState {
	m.last = q
	n := len(m.classes)
	weights := make([]float64, n)
	for a, j := range m.classes {
		weights[a] = q[a] / m.prior[j]
	}
	groups := m.rows.groups()
	gradients := make([][]float64, groups)
	m.rows.eachGroup(8*n, func(group, first, last int) {
		gradient, factors := make([]float64, n), make([]float64, panelRows)
		for i := first; i < last; i++ {
			start, height := m.rows.extent(i)
			density, counts := m.density[start:start+height], m.counts[start:start+height]
			columns := m.rows.panel(i)
			simd.Combine(density, columns, weights)
			floats.DivTo(factors[:height], counts, density)
			simd.Project(gradient, columns, factors[:height])
		}
		gradients[group] = gradient
	})
	s := mixtureState{q: q, gradient: gradients[0]}
	for _, gradient := range gradients[1:] {
		floats.Add(s.gradient, gradient)
	}
	for a, j := range m.classes {
		s.gradient[a] /= m.total * m.prior[j]
		violation := s.gradient[a] - 1
		if q[a] > 0 {
			violation = math.Abs(violation)
		}
		s.violation = max(s.violation, violation)
	}
	return s
}

// curvature returns the negative Hessian of the mean log-likelihood at the q that was
// evaluated last.
func (m *mixture) curvature() *mat.SymDense {
	n := len(m.classes)
	sums := make([]*mat.SymDense, m.rows.groups())
	m.rows.eachGroup(n*n/2, func(group, first, last int) {
		sum, storage, factors := mat.NewSymDense(n, nil), make([]float64, n*panelRows), make([]float64, panelRows)
		scaled, columns := make([][]float64, n), make([][]float64, n)
		for i := first; i < last; i++ {
			start, height := m.rows.extent(i)
			for row, d := range m.density[start : start+height] {
				factors[row] = m.counts[start+row] / d / d
			}
			for a := range columns {
				columns[a], scaled[a] = m.rows.column(i, a), storage[a*panelRows:a*panelRows+height]
				simd.Multiply(scaled[a], columns[a], factors[:height])
			}
			addGram(sum, scaled, columns)
		}
		sums[group] = sum
	})
	for _, sum := range sums[1:] {
		addSymmetric(sums[0], sum)
	}
	for a, i := range m.classes {
		for b := a; b < n; b++ {
			sums[0].SetSym(a, b, sums[0].At(a, b)/(m.total*m.prior[i]*m.prior[m.classes[b]]))
		}
	}
	return sums[0]
}

const (
	// newtonSteps bounds MLLS's Newton steps; few problems take more than ten.
	newtonSteps = 200
	// roundingViolation is a violation of MLLS's conditions that counts as none: some
	// hundred units of rounding of a factor.
	roundingViolation = 1e-13
	// acceptedViolation is the largest violation with which MLLS may end, where steps
	// no longer lower it.
	acceptedViolation = 1e-9
	// roughViolation ends the search on thinned rows, whose optimum is another one.
	roughViolation = 1e-2
	// thinning is the share of the rows, one in so many, that the search begins with.
	thinning = 8
)

// maximise searches from start on or, where that is nil, from the prior, or from the
// optimum of thinned rows where these are many.
func (m *mixture) maximise(start []float64) (MLLSSolution, error) {
	q := make([]float64, len(m.classes))
	for a, j := range m.classes {
		if start != nil {
			q[a] = start[j]
		} else {
			q[a] = m.prior[j]
		}
	}
	if start == nil && len(m.counts) >= 10*thinning*len(q) {
		if s, _, err := m.thinned().climb(interior(q), roughViolation); err == nil {
			q = s.q
		}
	}
	best, steps, err := m.climb(interior(q), roundingViolation)
	if err != nil {
		return MLLSSolution{}, err
	}
	if !(best.violation < acceptedViolation) {
		return MLLSSolution{}, fmt.Errorf("%w of MLLS in %d Newton steps: the optimality conditions are violated by %.3g", ErrNoConvergence, steps, best.violation)
	}
	return m.solution(best, steps), nil
}

// interior returns q with shares of at least 10⁻⁶: a share of 0 makes rows impossible.
func interior(q []float64) []float64 {
	inside := make([]float64, len(q))
	for a, share := range q {
		inside[a] = max(share, 1e-6)
	}
	floats.Scale(1/floats.Sum(inside), inside)
	return inside
}

// thinned returns the likelihood of some of the rows.
func (m *mixture) thinned() *mixture {
	few := &mixture{prior: m.prior, classes: m.classes, rows: m.rows.thinned(thinning)}
	for i := 0; i < len(m.counts); i += thinning {
		few.counts = append(few.counts, m.counts[i])
		few.total += m.counts[i]
	}
	few.density = make([]float64, len(few.counts))
	return few
}

// climb takes Newton steps from q until the violation is at most the tolerance, or no
// longer falls, and returns the best state and the number of steps. A step that divides
// the violation by ten keeps the curvature of the one before.
func (m *mixture) climb(q []float64, tolerance float64) (best mixtureState, steps int, err error) {
	s := m.expect(m.evaluate(q))
	best = s
	var curvature *mat.SymDense
	for stale := 0; s.violation > tolerance && steps < newtonSteps; steps++ {
		if curvature == nil {
			curvature = m.curvature()
		}
		x, err := m.newtonStep(s, curvature)
		if err != nil {
			return best, steps, err
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
	return best, steps, nil
}

// expect returns the state s, which was evaluated last, or after some EM steps from there
// where it is far from the optimum: where a few rows decide on a share that is far too
// small, EM sets it at once, while Newton's method doubles it at each step.
func (m *mixture) expect(s mixtureState) mixtureState {
	const far, limit = 0.5, 4
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
// Classes of next to no use, g_y near 0, get x_y = 0: their columns of R may be so
// short that the model's scales are too far apart.
func (m *mixture) newtonStep(s mixtureState, h *mat.SymDense) ([]float64, error) {
	const useless = 1e-3
	var useful []int
	for a, g := range s.gradient {
		if g >= useless {
			useful = append(useful, a)
		}
	}
	n := len(useful)
	q, ones := make([]float64, n), make([]float64, n)
	gradient := mat.NewVecDense(n, nil)
	curvature := mat.NewSymDense(n, nil)
	for i, a := range useful {
		q[i], ones[i] = s.q[a], 1
		gradient.SetVec(i, s.gradient[a])
		for j, b := range useful[:i+1] {
			curvature.SetSym(i, j, h.At(a, b))
		}
	}
	r, err := rootOf(curvature)
	if err != nil {
		return nil, err
	}
	target, along := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	if err := target.SolveVec(r.T(), gradient); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, fmt.Errorf("%w of MLLS: %w", ErrNoConvergence, err)
	}
	along.MulVec(r, mat.NewVecDense(n, q))
	target.AddVec(target, along)
	model := scale(Problem{
		Confusion:          mat.DenseCopyOf(r),
		TargetPredictions:  target.RawVector().Data,
		SourceDistribution: ones,
	}, LeastSquares)
	u, _, err := newActiveSet(model, 100+10*n).solve()
	if err != nil {
		return nil, err
	}
	solution := model.weights(u, n)
	floats.Scale(1/floats.Sum(solution), solution)
	x := make([]float64, len(s.q))
	for i, a := range useful {
		x[a] = solution[i]
	}
	return x, nil
}

// rootOf returns an upper triangular R with RᵀR = H, and with a little more on the
// diagonal where H is singular.
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
		var cholesky mat.Cholesky
		if !cholesky.Factorize(scaled) {
			continue
		}
		r := mat.NewTriDense(n, mat.Upper, nil)
		cholesky.UTo(r)
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

func (m *mixture) solution(s mixtureState, steps int) MLLSSolution {
	k := len(m.prior)
	if !slices.Equal(m.last, s.q) {
		m.differentiate(s.q)
	}
	curvature := m.curvature()
	result := MLLSSolution{
		Weights:            make([]float64, k),
		TargetDistribution: make([]float64, k),
		Prior:              m.prior,
		LogLikelihood:      s.likelihood,
		Factors:            make([]float64, k),
		Violation:          s.violation,
		Information:        mat.NewSymDense(k, nil),
		Iterations:         steps,
	}
	for a, i := range m.classes {
		result.TargetDistribution[i] = s.q[a]
		result.Weights[i] = s.q[a] / m.prior[i]
		result.Factors[i] = s.gradient[a]
		for b, j := range m.classes[:a+1] {
			result.Information.SetSym(i, j, curvature.At(a, b))
		}
	}
	return result
}
