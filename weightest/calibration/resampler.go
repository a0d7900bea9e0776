package calibration

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/evenly"
	"iwda/internal/simd"
	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

const (
	// refitSteps bounds the steps of a refit; few take more than four.
	refitSteps = 25
	// refitError ends a refit, in squared standard errors of the calibration.
	refitError = 1e-4
)

// Resampler fits a calibration again to resamples of the rows that it was fitted to, by
// Newton's method with the sample's Hessian, from the sample's optimum. It is for use by many
// goroutines at the same time.
type Resampler struct {
	form   form
	loss   *logLoss
	x      []float64 // the sample's optimum
	free   []int     // its parameters that are not at the bound 0
	factor mat.Cholesky
	// spread are the standard deviations of the scale and of the biases about the centres of
	// a shrunk form's penalty.
	spread [2]float64
}

// OnResamples returns what fits c to resamples of the logits (row-major n×k) and labels of
// Calibrate, which returned it. It is nil for a calibration without parameters.
func (c Calibration) OnResamples(logits []float64, labels []int) (*Resampler, error) {
	f, err := formOf(c.Form)
	if err != nil || f.name == None {
		return nil, err
	}
	k := len(c.Scales)
	if err := weightest.CheckResamples(k); err != nil {
		return nil, err
	}
	loss, err := newLogLoss(logits, labels, k)
	if err != nil {
		return nil, err
	}
	r := &Resampler{form: f, loss: loss, x: slices.Clone(c.Scales[:f.scales(k)])}
	if f.biases {
		r.x = append(r.x, c.Biases...)
	}
	for j, value := range r.x {
		if j >= f.scales(k) || value > 0 {
			r.free = append(r.free, j)
		}
	}
	if !r.factor.Factorize(panels.Block(loss.evaluate(f, r.x, true).hessian, r.free)) {
		return nil, &noOptimum{"the rows do not tell its parameters"}
	}
	if f.shrunk {
		r.spread = r.spreads()
	}
	return r, nil
}

// spreads estimates how far the true scale and biases of a shrunk form lie from the penalty's
// centres, by moments. With H the Hessian with its penalty P and D = H - P, the optimum moves by
// R = H⁻¹D as the truth does, and has the covariance C = R H⁻¹/n. So the squared
// distance of the optimum from the centre, projected by M (see shrink), is on average
//
//	deviation² tr(M R M Rᵀ) + tr(M C).
//
// Of the biases the penalty's own deviation counts as one observation more. The scale's is at
// least the penalty's, as one number tells little, and at most twice that.
func (r *Resampler) spreads() [2]float64 {
	k, n := r.loss.classes, len(r.x)
	zero := &lossState{x: make([]float64, n), gradient: make([]float64, n), hessian: mat.NewSymDense(n, nil)}
	r.loss.penalty().shrink(zero, zero.x[1:], r.form.free, true)
	var inverse mat.SymDense
	if r.factor.InverseTo(&inverse) != nil {
		return [2]float64{scaleDeviation, biasDeviation}
	}
	var moves, covariance mat.Dense
	moves.Mul(&inverse, zero.hessian)
	moves.Scale(-1, &moves)
	for j := range n {
		moves.Set(j, j, 1+moves.At(j, j))
	}
	covariance.Mul(&moves, &inverse)
	covariance.Scale(1/float64(len(r.loss.labels)), &covariance)
	project := func(i, j int) float64 {
		value := -1/float64(k) - r.loss.prior[i]*r.loss.prior[j]
		if i == j {
			value++
		}
		return value
	}
	m := mat.NewDense(k, k, nil)
	m.Apply(func(i, j int, _ float64) float64 { return project(i, j) }, m)
	var biases mat.VecDense
	biases.MulVec(m, mat.NewVecDense(k, r.x[1:]))
	var left, right, ofNoise mat.Dense
	left.Mul(m, moves.Slice(1, n, 1, n))
	right.Mul(m, moves.Slice(1, n, 1, n).T())
	left.Mul(&left, &right)
	ofNoise.Mul(m, covariance.Slice(1, n, 1, n))
	offset := r.x[0] - 1
	scale := math.Sqrt(max(0, offset*offset-covariance.At(0, 0))) / moves.At(0, 0)
	return [2]float64{
		min(max(scaleDeviation, scale), 2*scaleDeviation),
		math.Sqrt(max(0, mat.Dot(&biases, &biases)-mat.Trace(&ofNoise)+biasDeviation*biasDeviation) / (mat.Trace(&left) + 1)),
	}
}

// Fit returns the calibration of the rows, each as often as it counts. What draws a shrunk
// form towards a centre is an observation like a row, and may be off: in a resample the centre
// is drawn, as far from the penalty's as spreads says.
func (r *Resampler) Fit(counts []int, random *rand.Rand) Calibration {
	k := r.loss.classes
	weights := make([]float64, len(counts))
	own := labelled{counts: make([]float64, k), sums: make([]float64, k)}
	for i, count := range counts {
		weights[i] = float64(count)
		label := r.loss.labels[i]
		own.counts[label] += weights[i]
		own.sums[label] += weights[i] * r.loss.own[i]
	}
	penalty := penalty{rows: floats.Sum(weights), direction: r.loss.prior, centre: make([]float64, len(r.x))}
	if r.form.shrunk {
		penalty.centre[0] = r.spread[0] * random.NormFloat64()
		for j := range k {
			penalty.centre[1+j] = r.spread[1] * random.NormFloat64()
		}
	}
	// Steps of the sample's Hessian go too far where the resample's is larger: from the best point
	// so far a shorter one is taken.
	x, best, length, last := r.x, r.x, 1.0, math.Inf(1)
	direction := mat.NewVecDense(len(r.free), nil)
	for range refitSteps {
		gradient := evenly.Pick(r.loss.weightedGradient(r.form, x, weights, own, penalty), r.free)
		var step mat.VecDense
		// The error would say that the Hessian is ill-conditioned.
		_ = r.factor.SolveVecTo(&step, mat.NewVecDense(len(gradient), gradient))
		if left := penalty.rows * floats.Dot(gradient, step.RawVector().Data); left < last {
			best, last, direction = x, left, &step
		} else if length /= 2; length < 1e-2 {
			x = best
			break
		}
		x = slices.Clone(best)
		for i, j := range r.free {
			x[j] -= length * direction.AtVec(i)
			if j < r.form.scales(k) {
				x[j] = max(0, x[j])
			}
		}
		if last < refitError {
			break
		}
	}
	c := Calibration{Form: r.form.name}
	c.Scales, c.Biases = r.form.split(x, k)
	return c
}

// weightedGradient returns the gradient of the mean loss of rows that count so often.
func (l *logLoss) weightedGradient(f form, x, weights []float64, own labelled, p penalty) []float64 {
	k := l.classes
	s, b := f.split(x, k)
	moments := make([]simd.Moments, k)
	panel := l.scratch.Get().(*lossPanel)
	defer l.scratch.Put(panel)
	for i := range l.logits.Count() {
		start, height := l.logits.Extent(i)
		panel.exponentials(l, i, s, b)
		panel.normalise(moments, weights[start:start+height])
	}
	state := &lossState{x: x, gradient: f.gradient(moments)}
	f.subtractLabels(state.gradient, own)
	floats.Scale(1/p.rows, state.gradient)
	f.addTo(state, b, p, false)
	return state.gradient
}
