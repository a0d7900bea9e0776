package weightest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// MLLSSettings are the options of MLLS; the zero value is what its comment describes.
type MLLSSettings struct {
	// Prior is the source distribution p, length k; nil means the mean prediction on
	// the held-out source rows.
	Prior []float64
	// Start is where the search begins: a target distribution, length k, such as that
	// of another replica of a bootstrap; nil means the prior. Classes with a share of 0
	// there are found again.
	Start []float64
}

// MLLSSolution is what MLLS returns.
type MLLSSolution struct {
	// Weights are w, length k: w_y = q_y/p_y, and w·p = 1.
	Weights            []float64
	TargetDistribution []float64 // q, length k
	Prior              []float64 // p, length k
	// LogLikelihood is the mean over the target's rows of log Σ_y w_y f_y(x).
	LogLikelihood float64
	// Factors are those by which a step of EM would multiply q, length k:
	//
	//	(1/m) Σ_x (f_y(x)/p_y) / Σ_z w_z f_z(x),
	//
	// the gradient of the mean log-likelihood. q is optimal where they are 1 for every
	// y with q_y > 0 and at most 1 for the others. A class without prior has 0.
	Factors []float64
	// Violation is the largest violation of that.
	Violation float64
	// Information is the Fisher information of a row, k×k: the negative Hessian of the
	// mean log-likelihood at q,
	//
	//	(1/m) Σ_x a(x) a(x)ᵀ / (a(x)·q)²,   a_y = f_y/p_y.
	Information *mat.SymDense
	// Iterations is the number of Newton steps.
	Iterations int
}

// MLLS maximises the likelihood of the target's rows under label shift (Saerens,
// Latinne and Decaestecker 2002; Alexandari, Kundaje and Shrikumar 2020),
//
//	max Σ_x log Σ_y f_y(x) q_y / p_y   s.t.   q ≥ 0, Σ_y q_y = 1,     w_y = q_y / p_y,
//
// over the rows of p.Rows, f being calibrated probabilities and p their mean over the
// held-out source rows: with it, and not with the labels' shares, target rows like
// those of the source give w = 1.
//
// The problem is concave. The published implementations run the EM algorithm,
// q_y ← mean of q_y f_y/p_y / Σ_z q_z f_z/p_z, and stop it where it still moves; this one
// takes Newton steps on the simplex, each by the active-set method of SolveQP on the
// quadratic model, until the conditions at Factors hold up to rounding.
//
// A class whose prior and whose mean prediction on the target are both 0 gets weight 0.
// The error wraps ErrInvalidProblem, which also says that p has no rows, ErrMissingClass
// with the number of a class whose prior is 0 while the target's rows predict it, or
// ErrNoConvergence. MLLS panics where the lengths of the settings differ from k.
func MLLS(p Problem, settings MLLSSettings) (MLLSSolution, error) {
	if err := p.Validate(); err != nil {
		return MLLSSolution{}, err
	}
	k := p.Classes()
	for _, distribution := range [][]float64{settings.Prior, settings.Start} {
		if distribution != nil && len(distribution) != k {
			panic(fmt.Sprintf("weightest: MLLS with a distribution of %d classes instead of %d", len(distribution), k))
		}
	}
	if p.Rows == nil || len(p.Rows.Probabilities) == 0 {
		return MLLSSolution{}, fmt.Errorf("%w: MLLS reads the target's rows, and there are none", ErrInvalidProblem)
	}
	prior := settings.Prior
	if prior == nil {
		prior = make([]float64, k)
		for i := range prior {
			prior[i] = floats.Sum(p.Confusion.RawRowView(i))
		}
	}
	if err := validateDistribution("prior of MLLS", prior); err != nil {
		return MLLSSolution{}, err
	}
	prior = slices.Clone(prior)
	floats.Scale(1/floats.Sum(prior), prior)
	for j, mass := range prior {
		if mass == 0 && p.TargetPredictions[j] > 0 {
			return MLLSSolution{}, fmt.Errorf("%w: class %d has prior 0 in MLLS, and the target's rows predict it", ErrMissingClass, j)
		}
	}
	start := settings.Start
	if start == nil {
		start = prior
	}
	m := newMixture(p.Rows, prior)
	return m.maximise(start)
}

// mixture is the likelihood of rows f under class shares q, where classes stands for
// those with a prior.
type mixture struct {
	prior   []float64
	classes []int     // with a prior above 0
	rows    *panels   // of these classes, of rows that count
	counts  []float64 // of these rows
	total   float64   // Σ counts
	density []float64 // a(x)·q of every row
}

func newMixture(rows *Rows, prior []float64) *mixture {
	k := len(prior)
	m := &mixture{prior: prior}
	for j, mass := range prior {
		if mass > 0 {
			m.classes = append(m.classes, j)
		}
	}
	var kept []float64
	if rows.Counts == nil && len(m.classes) == k {
		kept = rows.Probabilities
	}
	for i := range len(rows.Probabilities) / k {
		count := countOf(rows.Counts, i)
		if count == 0 {
			continue
		}
		m.counts = append(m.counts, float64(count))
		m.total += float64(count)
		if rows.Counts == nil && len(m.classes) == k {
			continue
		}
		for _, j := range m.classes {
			kept = append(kept, rows.Probabilities[i*k+j])
		}
	}
	m.rows = newPanels(kept, len(m.classes), 1)
	m.density = make([]float64, len(m.counts))
	return m
}

// mixtureState is the mean log-likelihood at q with its derivatives, all over the classes with
// a prior.
type mixtureState struct {
	q          []float64
	likelihood float64
	gradient   []float64
	curvature  *mat.SymDense // the negative Hessian
	violation  float64
}

// evaluate returns the state at q, with the curvature where it is asked for, and sets
// the densities.
func (m *mixture) evaluate(q []float64, curvature bool) mixtureState {
	n := len(m.classes)
	weights := make([]float64, n)
	for a, j := range m.classes {
		weights[a] = q[a] / m.prior[j]
	}
	groups := m.rows.groups()
	likelihoods := make([]float64, groups)
	gradients, curvatures := make([][]float64, groups), make([]*mat.SymDense, groups)
	cost := 8 * n
	if curvature {
		cost += n * n / 2
	}
	m.rows.eachGroup(cost, func(group, first, last int) {
		gradient, sum := make([]float64, n), mat.NewSymDense(n, nil)
		storage := make([]float64, n*panelRows)
		scaled, columns := make([][]float64, n), make([][]float64, n)
		for i := first; i < last; i++ {
			start, height := m.rows.extent(i)
			density, counts := m.density[start:start+height], m.counts[start:start+height]
			clear(density)
			for a := range columns {
				columns[a] = m.rows.column(i, a)
				floats.AddScaled(density, weights[a], columns[a])
			}
			for row, d := range density {
				likelihoods[group] += counts[row] * math.Log(d)
			}
			for a, column := range columns {
				scaled[a] = storage[a*panelRows : a*panelRows+height]
				for row, d := range density {
					scaled[a][row] = column[row] / d * counts[row] / d
				}
				gradient[a] += floats.Dot(scaled[a], density)
			}
			if curvature {
				addGram(sum, scaled, columns)
			}
		}
		gradients[group], curvatures[group] = gradient, sum
	})
	s := mixtureState{q: q, likelihood: floats.Sum(likelihoods) / m.total, gradient: gradients[0], curvature: curvatures[0]}
	for group := 1; group < groups; group++ {
		floats.Add(s.gradient, gradients[group])
		addSymmetric(s.curvature, curvatures[group])
	}
	for a, i := range m.classes {
		s.gradient[a] /= m.total * m.prior[i]
		for b := a; b < n; b++ {
			s.curvature.SetSym(a, b, s.curvature.At(a, b)/(m.total*m.prior[i]*m.prior[m.classes[b]]))
		}
		violation := s.gradient[a] - 1
		if q[a] > 0 {
			violation = math.Abs(violation)
		}
		s.violation = max(s.violation, violation)
	}
	return s
}

const (
	// newtonSteps bounds MLLS's Newton steps; few problems take more than ten.
	newtonSteps = 100
	// roundingViolation is a violation of MLLS's conditions that counts as none.
	roundingViolation = 1e-15
	// acceptedViolation is the largest violation with which MLLS may end, where steps
	// no longer lower it.
	acceptedViolation = 1e-9
)

func (m *mixture) maximise(start []float64) (MLLSSolution, error) {
	q := make([]float64, len(m.classes))
	for a, j := range m.classes {
		// A share of 0 would make rows impossible.
		q[a] = max(start[j], 1e-6)
	}
	floats.Scale(1/floats.Sum(q), q)
	s := m.expect(q)
	best := s
	stale, steps := 0, 0
	for s.violation > roundingViolation && steps < newtonSteps {
		steps++
		next, err := m.newtonStep(s)
		if err != nil {
			return MLLSSolution{}, err
		}
		if next == nil {
			break
		}
		s = m.expect(next)
		if s.violation < best.violation/2 {
			stale = 0
		} else if stale++; stale > 2 && best.violation < acceptedViolation {
			break
		}
		if s.violation < best.violation {
			best = s
		}
	}
	if !(best.violation < acceptedViolation) {
		return MLLSSolution{}, fmt.Errorf("%w of MLLS in %d Newton steps: the optimality conditions are violated by %.3g", ErrNoConvergence, steps, best.violation)
	}
	return m.solution(best, steps), nil
}

// expect returns the state at q, after some EM steps where it is far from the optimum:
// where a few rows decide on a share that is far too small, EM sets it at once, while
// Newton's method doubles it at each step.
func (m *mixture) expect(q []float64) mixtureState {
	const far, limit = 0.5, 4
	for range limit {
		s := m.evaluate(q, false)
		if s.violation < far {
			break
		}
		floats.Mul(s.gradient, q)
		q = s.gradient
	}
	return m.evaluate(q, true)
}

// newtonStep returns the q after a step from s, or nil where rounding allows none. With
// g the gradient and H the negative Hessian, RᵀR, the model's maximum on the simplex is
// that of
//
//	min ½‖R x - (R q + R⁻ᵀg)‖²   s.t.   x ≥ 0, Σ x = 1.
//
// Classes of next to no use, g_y near 0, get x_y = 0: their columns of R may be so
// short that the model's scales are too far apart.
func (m *mixture) newtonStep(s mixtureState) ([]float64, error) {
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
			curvature.SetSym(i, j, s.curvature.At(a, b))
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
	return m.search(s, x), nil
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

// search returns the point between s and x, x first, at which the likelihood is
// sufficiently higher, or the same up to rounding; nil where there is none.
func (m *mixture) search(s mixtureState, x []float64) []float64 {
	direction := make([]float64, len(x))
	floats.SubTo(direction, x, s.q)
	slope := floats.Dot(s.gradient, direction)
	change := m.densityOf(direction)
	likelihood := func(step float64) float64 {
		var sum float64
		for row, d := range m.density {
			sum += m.counts[row] * math.Log(d+step*change[row])
		}
		return sum / m.total
	}
	former := likelihood(0)
	rounding := 64 * epsilon * (1 + math.Abs(former))
	step := 1.0
	for range 50 {
		if likelihood(step) >= former+1e-4*step*slope-rounding {
			next := slices.Clone(x)
			if step < 1 {
				floats.ScaleTo(next, 1-step, s.q)
				floats.AddScaled(next, step, x)
			}
			return next
		}
		step /= 2
	}
	return nil
}

// densityOf returns a(x)·q of every row.
func (m *mixture) densityOf(q []float64) []float64 {
	density := make([]float64, len(m.density))
	for i := range m.rows.count() {
		start, height := m.rows.extent(i)
		for a, j := range m.classes {
			floats.AddScaled(density[start:start+height], q[a]/m.prior[j], m.rows.column(i, a))
		}
	}
	return density
}

func (m *mixture) solution(s mixtureState, steps int) MLLSSolution {
	k := len(m.prior)
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
			result.Information.SetSym(i, j, s.curvature.At(a, b))
		}
	}
	return result
}

type mlls struct{}

func (mlls) Estimate(p Problem) (Estimate, error) {
	s, err := MLLS(p, MLLSSettings{})
	if err != nil {
		return Estimate{}, err
	}
	estimate := Estimate{Weights: s.Weights, TargetDistribution: s.TargetDistribution, Violation: s.Violation}
	if err := p.requireEveryClass(); err != nil {
		estimate.Warning = fmt.Sprintf("%v: its weight rests on what the classifier makes of rows of other classes", err)
	}
	return estimate, nil
}
