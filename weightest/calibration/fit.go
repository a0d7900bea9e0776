package calibration

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/evenly"
	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

const (
	// gradientLimit is the largest gradient of a fit; that of a scale, which grows with the logits
	// as its rounding does, is counted over their spread if that is more than 1.
	gradientLimit = 1e-10
	// roughGradient is the gradient below which steps keep the Hessian.
	roughGradient = 1e-3
	// newtonSteps bounds the steps of a fit, and shortest the part of one that is tried.
	newtonSteps = 200
	shortest    = 1e-9
	// thinnedGradient ends the fit to thinned rows, whose optimum is another one.
	thinnedGradient = 1e-2
	// thinning is the share of the rows, one in so many at most, that a fit begins with.
	thinning = 8
	// flattest is the smallest eigenvalue of a log-loss's Hessian at which parameters
	// count as told by the rows: with separated rows it falls to 0 as they grow.
	flattest = 1e-8
	// otherUnit is the scale from which on logits are taken for no logarithms of probabilities.
	otherUnit = 2
	// leastSpread is the spread of scaled logits below which these say nothing: the
	// scale's optimum is 0, which rounding may miss.
	leastSpread = 1e-8
)

// noOptimum is the error of a fit whose loss has no minimum that the rows tell.
type noOptimum struct{ because string }

func (e *noOptimum) Error() string { return "calibration: no optimum, as " + e.because }

// fit returns the optimum of a form. The bounds s ≥ 0 are handled by an active-set
// method: the minimum without those that are not active, a step towards it until
// another one is in the way, and at the minimum the one given up that holds the loss up
// most.
func (l *logLoss) fit(f form) (Calibration, error) {
	k := l.classes
	if f.name == None || k == 1 {
		return Identity(k), nil
	}
	n := f.scales(k)
	x := make([]float64, f.parameters(k))
	for j := range n {
		x[j] = min(1, 1/l.spread)
	}
	l.start(f, x)
	fixed := make([]bool, len(x))
	for range 10 * (1 + n) {
		best := l.minimise(f, x, freeIndices(fixed), gradientLimit/10)
		if stepInside(x, best.x, fixed, n) {
			continue
		}
		if best.separated && !f.shrunk {
			return Calibration{}, &noOptimum{"it separates the rows, and larger scales would separate them more"}
		}
		if most := floats.MinIdx(best.gradient[:n]); fixed[most] && best.gradient[most] < -gradientLimit*max(1, l.spread) {
			fixed[most] = false
			continue
		}
		if f.shrunk && !f.free {
			if free := l.freed(f, best); free != nil {
				f, best = freed, free
			}
		}
		return l.calibration(f, best, fixed)
	}
	return Calibration{}, fmt.Errorf("%w of the calibration %s", weightest.ErrNoConvergence, f.name)
}

// freed returns the optimum of the form freed if the rows overrule the penalty on the scale of
// a shrunk form, of which best is the optimum, and nil if they do not. One step of Newton's
// method, which can only lead away from 1, tells whether that is worth a fit.
func (l *logLoss) freed(f form, best *lossState) *lossState {
	scale, pull := best.x[0], l.penalty().ofScale()
	if scale <= 1 {
		return nil
	}
	told := l.curvatureOfScale(f, best) - pull
	if !(told > 0 && scale+pull*(scale-1)/told >= otherUnit) {
		return nil
	}
	all := l.minimise(freed, best.x, evenly.All(len(best.x)), gradientLimit/10)
	scale = all.x[0]
	deviation := 1 / math.Sqrt(float64(len(l.labels))*l.curvatureOfScale(freed, all))
	if !(scale >= otherUnit && deviation <= scaleDeviation*scale) {
		return nil
	}
	return all
}

// curvatureOfScale returns that of the loss along the one scale, the other parameters at their
// optimum; 0 if the Hessian has no inverse.
func (l *logLoss) curvatureOfScale(f form, s *lossState) float64 {
	if l.many() {
		unit := make([]float64, len(s.x))
		unit[0] = 1
		return 1 / l.solve(f, s, unit, evenly.All(len(unit)), 1e-3)[0]
	}
	var factor mat.Cholesky
	var column mat.VecDense // the first one of the inverse
	first := mat.NewVecDense(len(s.x), nil)
	first.SetVec(0, 1)
	if !factor.Factorize(s.hessian) || factor.SolveVecTo(&column, first) != nil {
		return 0
	}
	return 1 / column.AtVec(0)
}

// start moves x to the minimum for thinned rows where these are many and tell the
// parameters.
func (l *logLoss) start(f form, x []float64) {
	step := thinning
	for step > 1 && len(l.labels) < 20*step*len(x) {
		step /= 2
	}
	if step < 2 {
		return
	}
	few, err := l.thinned(step)
	if err != nil || slices.Contains(few.counts, 0) {
		return
	}
	rough := few.minimise(f, x, evenly.All(len(x)), thinnedGradient)
	if rough.separated || floats.Min(rough.x[:f.scales(l.classes)]) < 0 {
		return
	}
	copy(x, rough.x)
}

// stepInside moves x towards the target until the first scale is 0, fixes it, and
// reports whether there was one.
func stepInside(x, target []float64, fixed []bool, scales int) bool {
	fraction, blocking := 1.0, -1
	for j := range scales {
		if !fixed[j] && target[j] < 0 {
			if f := x[j] / (x[j] - target[j]); f < fraction || blocking < 0 {
				fraction, blocking = f, j
			}
		}
	}
	for j, t := range target {
		x[j] += fraction * (t - x[j])
		if j < scales {
			x[j] = max(0, x[j])
		}
	}
	if blocking < 0 {
		copy(x, target)
		return false
	}
	x[blocking], fixed[blocking] = 0, true
	return true
}

// calibration checks an optimum and returns it.
func (l *logLoss) calibration(f form, s *lossState, fixed []bool) (Calibration, error) {
	tellsNothing := &noOptimum{"the rows' logits do not tell their labels"}
	if !f.vector && fixed[0] {
		return Calibration{}, tellsNothing
	}
	free := freeIndices(fixed)
	if l.many() && !(l.curvatureOfScale(f, s) > flattest) || !l.many() && !exceeds(panels.Block(s.hessian, free), flattest) {
		return Calibration{}, &noOptimum{fmt.Sprintf("the rows do not tell its parameters (an eigenvalue of the Hessian is below %.2g)", flattest)}
	}
	if !f.vector && s.x[0]*l.spread < leastSpread {
		return Calibration{}, tellsNothing
	}
	c := Calibration{Form: f.name}
	c.Scales, c.Biases = f.split(s.x, l.classes)
	floats.AddConst(-floats.Sum(c.Biases)/float64(l.classes), c.Biases)
	for j, g := range s.gradient {
		if fixed[j] {
			g = min(0, g)
		}
		if j < f.scales(l.classes) {
			g /= max(1, l.spread)
		}
		c.Gradient = max(c.Gradient, math.Abs(g))
	}
	if !(c.Gradient <= gradientLimit) {
		return Calibration{}, fmt.Errorf("%w of the calibration %s: its gradient is %.3g", weightest.ErrNoConvergence, f.name, c.Gradient)
	}
	return c, nil
}

// exceeds tells whether all eigenvalues of the matrix are above the limit.
func exceeds(m *mat.SymDense, limit float64) bool {
	n := m.SymmetricDim()
	less := mat.NewSymDense(n, nil)
	less.CopySym(m)
	for i := range n {
		less.SetSym(i, i, m.At(i, i)-limit)
	}
	return new(mat.Cholesky).Factorize(less)
}

func freeIndices(fixed []bool) []int {
	var free []int
	for j, is := range fixed {
		if !is {
			free = append(free, j)
		}
	}
	return free
}

// minimise returns the state at the minimum over the free parameters, from x on, by Newton's
// method. It ends if the gradient is below the tolerance, or if no step leads further.
func (l *logLoss) minimise(f form, x []float64, free []int, tolerance float64) *lossState {
	s := l.evaluate(f, slices.Clone(x), true)
	kept := false // s has the Hessian of a former point
	for range newtonSteps {
		if floats.Norm(evenly.Pick(s.gradient, free), 2) < tolerance {
			break
		}
		next := l.search(f, s, free, kept)
		switch {
		case next != nil:
			kept = next.hessian == s.hessian && !l.many()
			s = next
		case kept:
			s, kept = l.evaluate(f, s.x, true), false
		default:
			return s
		}
	}
	return s
}

// search returns the state after a Newton step from s, or after a part of one, that lowers the
// loss enough or halves the gradient, and nil if none does. Near the minimum losses differ by
// less than rounding, and the state keeps the Hessian of s. One that was kept has to halve the
// gradient by a whole step.
func (l *logLoss) search(f form, s *lossState, free []int, kept bool) *lossState {
	gradient := evenly.Pick(s.gradient, free)
	norm := floats.Norm(gradient, 2)
	near := norm < roughGradient
	var step []float64
	if l.many() {
		step = l.solve(f, s, gradient, free, max(1e-3, min(0.1, norm)))
	} else if step = newtonStep(panels.Block(s.hessian, free), gradient); step == nil {
		return nil
	}
	slope := floats.Dot(gradient, step)
	for length := 1.0; length > shortest; length /= 2 {
		point := slices.Clone(s.x)
		for i, j := range free {
			point[j] -= length * step[i]
		}
		next := l.evaluate(f, point, !near)
		if near {
			next.hessian = s.hessian
		}
		if floats.Norm(evenly.Pick(next.gradient, free), 2) < norm/2 || !kept && next.loss < s.loss-1e-4*length*slope {
			return next
		}
		if kept {
			return nil
		}
	}
	return nil
}

// newtonStep returns H⁻¹g, with more on the diagonal of H if it is singular, and nil if
// none is enough. mat.Cholesky would also estimate H's condition, which nothing reads.
func newtonStep(h *mat.SymDense, g []float64) []float64 {
	const least, most = 1e-3, 1e12
	n := len(g)
	for shift := 0.0; shift < most; shift = max(least, 10*shift) {
		for i := range n {
			h.SetSym(i, i, h.At(i, i)+shift)
		}
		copied := mat.NewSymDense(n, nil)
		copied.CopySym(h)
		if factor, ok := lapack64.Potrf(copied.RawSymmetric()); ok {
			step := slices.Clone(g)
			lapack64.Potrs(factor, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: step})
			return step
		}
	}
	return nil
}
