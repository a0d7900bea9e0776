package calibration

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"iwda/internal/evenly"
	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

const (
	// gradientLimit is the largest gradient of a fit; that of a scale, which grows with the logits
	// as its rounding does, is counted over their spread if that is more than 1.
	gradientLimit = 1e-10
	// roughGradient is the gradient to which gonum's method goes, and polishing the largest
	// number of the steps beyond that.
	roughGradient = 1e-3
	polishing     = 30
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
		best, err := l.minimise(f, x, fixed)
		if err != nil {
			return Calibration{}, err
		}
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
			if free := l.freed(best); free != nil {
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
func (l *logLoss) freed(best *lossState) *lossState {
	scale, pull := best.x[0], l.penalty().ofScale()
	if scale <= 1 {
		return nil
	}
	told := curvatureOfScale(best) - pull
	if !(told > 0 && scale+pull*(scale-1)/told >= otherUnit) {
		return nil
	}
	all, err := l.minimise(freed, best.x, make([]bool, len(best.x)))
	if err != nil {
		return nil
	}
	scale = all.x[0]
	deviation := 1 / math.Sqrt(float64(len(l.labels))*curvatureOfScale(all))
	if !(scale >= otherUnit && deviation <= scaleDeviation*scale) {
		return nil
	}
	return all
}

// curvatureOfScale returns that of the loss along the one scale, the other parameters at their
// optimum; 0 if the Hessian has no inverse.
func curvatureOfScale(s *lossState) float64 {
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
	few := l.thinned(step)
	if slices.Contains(few.counts, 0) {
		return
	}
	rough, err := few.descend(f, x, evenly.All(len(x)), thinnedGradient)
	if err != nil || rough.separated || floats.Min(rough.x[:f.scales(l.classes)]) < 0 {
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
	if hessian := panels.Block(s.hessian, free); !exceeds(hessian, flattest) {
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

// minimise returns the state at the minimum over the parameters that are not fixed, from
// x on: by Newton's method of gonum, whose line search compares losses, and near the
// minimum, where these differ by less than rounding, by steps with its last Hessian.
func (l *logLoss) minimise(f form, x []float64, fixed []bool) (*lossState, error) {
	free := freeIndices(fixed)
	if len(free) == 0 {
		return l.evaluate(f, slices.Clone(x), true), nil
	}
	var best *lossState
	for _, tolerance := range []float64{roughGradient, gradientLimit} {
		var err error
		if best, err = l.descend(f, x, free, tolerance); err != nil {
			return nil, err
		}
		best = l.polish(f, best, free)
		if floats.Norm(evenly.Pick(best.gradient, free), 2) < gradientLimit {
			break
		}
		x = best.x
	}
	return best, nil
}

// polish takes steps with one Hessian as long as they shorten the gradient.
func (l *logLoss) polish(f form, best *lossState, free []int) *lossState {
	var cholesky mat.Cholesky
	if !cholesky.Factorize(panels.Block(best.hessian, free)) {
		return best
	}
	for range polishing {
		gradient := evenly.Pick(best.gradient, free)
		norm := floats.Norm(gradient, 2)
		if norm < gradientLimit/10 {
			break
		}
		var step mat.VecDense
		if err := cholesky.SolveVecTo(&step, mat.NewVecDense(len(free), gradient)); err != nil && step.IsEmpty() {
			break
		}
		point := slices.Clone(best.x)
		for i, j := range free {
			point[j] -= step.AtVec(i)
		}
		next := l.evaluate(f, point, false)
		if !(floats.Norm(evenly.Pick(next.gradient, free), 2) < norm/2) {
			break
		}
		next.hessian = best.hessian
		best = next
	}
	return best
}

// descend is Newton's method of gonum, from x to a gradient below the tolerance.
func (l *logLoss) descend(f form, x []float64, free []int, tolerance float64) (*lossState, error) {
	var last *lossState
	at := func(y []float64) *lossState {
		point := slices.Clone(x)
		for i, j := range free {
			point[j] = y[i]
		}
		if last == nil || !slices.Equal(last.x, point) {
			last = l.evaluate(f, point, true)
		}
		return last
	}
	var result *optimize.Result
	var err error
	inGoroutine(func() {
		result, err = optimize.Minimize(optimize.Problem{
			Func: func(y []float64) float64 { return at(y).loss },
			Grad: func(gradient, y []float64) { copy(gradient, evenly.Pick(at(y).gradient, free)) },
			Hess: func(hessian *mat.SymDense, y []float64) { hessian.CopySym(panels.Block(at(y).hessian, free)) },
		}, evenly.Pick(x, free), &optimize.Settings{
			GradientThreshold: tolerance,
			MajorIterations:   200,
			Converger:         optimize.NeverTerminate{},
		}, &optimize.Newton{})
	})
	if result == nil {
		return nil, fmt.Errorf("%w of the calibration %s: %w", weightest.ErrNoConvergence, f.name, err)
	}
	return at(result.X), nil
}

// inGoroutine runs f in a goroutine of its own. gonum's optimiser passes each value through
// channels, which takes several switches of threads where the caller is bound to one, as a
// training run is.
func inGoroutine(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}
