package calibration

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/conjugate"
	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/internal/simd"
	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

// logLoss is the mean over rows of -log softmax(s∘z + b)_y. Its parameters x are those
// of a form: one s or k, then k biases or none. With p the probabilities of a row and
// φ_a (k) the derivative of s∘z + b by x_a, which is z, z_j e_j or e_j,
//
//	gradient_a = mean of c_a - φ_a[y],   c_a = p·φ_a,
//	Hessian_ab = mean of Σ_j p_j φ_a[j] φ_b[j] - c_a c_b.
//
// (Σ b)²/2k is added, which is 0 at the optimum and makes b unique, and what a form that is
// shrunk adds; see shrink.
type logLoss struct {
	classes int
	given   []float64 // logits, n×k
	logits  *panels.Panels
	labelled
	largest []float64  // logit of each row
	spread  float64    // root mean square of the logits less their row means
	prior   []float64  // direction in which other class shares move biases, see priorDirection
	scratch *sync.Pool // of lossPanels, for the groups of an evaluation
}

// labelled is what the labels say.
type labelled struct {
	labels []int
	own    []float64 // the logit of each row's label
	counts []float64 // rows by label, length k
	sums   []float64 // of own by label, length k
}

// newLogLoss returns an error that wraps ErrInvalidRow where a logit is not finite.
func newLogLoss(logits []float64, labels []int, k int) (*logLoss, error) {
	spread := spreadOf(logits, k)
	// Numbers that are not finite make the spread one.
	if math.IsNaN(spread) || math.IsInf(spread, 0) {
		if err := checkFinite(logits, k); err != nil {
			return nil, err
		}
	}
	l := &logLoss{
		classes: k, given: logits, logits: panels.New(logits, nil, k, nil, nil), spread: spread,
		labelled: labelled{labels, make([]float64, len(labels)), make([]float64, k), make([]float64, k)},
		largest:  make([]float64, len(labels)),
		scratch:  &sync.Pool{New: func() any { return newLossPanel(k) }},
	}
	for i, label := range labels {
		l.own[i] = logits[i*k+label]
		l.counts[label]++
		l.sums[label] += l.own[i]
	}
	l.prior = priorDirection(l.counts)
	for i := range l.logits.Count() {
		first, height := l.logits.Extent(i)
		largest := l.largest[first : first+height]
		copy(largest, l.logits.Column(i, 0))
		for j := 1; j < k; j++ {
			simd.Raise(largest, l.logits.Column(i, j), simd.Affine{Scale: 1})
		}
	}
	return l, nil
}

// spreadOf returns the root mean square of the logits less their row means.
func spreadOf(logits []float64, k int) float64 {
	var squares float64
	centred := make([]float64, k)
	for first := 0; first < len(logits); first += k {
		copy(centred, logits[first:first+k])
		floats.AddConst(-floats.Sum(centred)/float64(k), centred)
		squares += floats.Dot(centred, centred) / float64(len(logits))
	}
	return math.Sqrt(squares)
}

// thinned returns the loss of every step-th row.
func (l *logLoss) thinned(step int) (*logLoss, error) {
	var logits []float64
	var labels []int
	for i := 0; i < len(l.labels); i += step {
		logits, labels = append(logits, l.given[i*l.classes:][:l.classes]...), append(labels, l.labels[i])
	}
	few, err := newLogLoss(logits, labels, l.classes)
	if err == nil {
		few.scratch = l.scratch
	}
	return few, err
}

// lossState is the loss with its derivatives at x.
type lossState struct {
	x         []float64
	loss      float64
	gradient  []float64
	hessian   *mat.SymDense // nil for many classes, see many
	separated bool          // every label has the largest entry of its row of s∘z + b
}

func (f form) scales(k int) int {
	if f.vector {
		return k
	}
	return 1
}

func (f form) parameters(k int) int {
	if f.biases {
		return f.scales(k) + k
	}
	return f.scales(k)
}

// split returns s and b, both of length k.
func (f form) split(x []float64, k int) (s, b []float64) {
	s, b = make([]float64, k), make([]float64, k)
	n := f.scales(k)
	for j := range k {
		s[j] = x[min(j, n-1)]
	}
	if f.biases {
		copy(b, x[n:])
	}
	return s, b
}

// lossSums are sums over the rows of some panels: those of the loss less the labels' part,
// of p, p∘z and p∘z² by class, and of c cᵀ where the Hessian is asked for.
type lossSums struct {
	loss      float64
	moments   []simd.Moments
	products  *mat.SymDense
	separated bool
}

func (l *lossSums) add(other *lossSums) {
	l.loss += other.loss
	l.separated = l.separated && other.separated
	for j, m := range other.moments {
		l.moments[j].Add(m)
	}
	if l.products != nil {
		panels.AddSymmetric(l.products, other.products)
	}
}

// evaluate returns the state at x, with the Hessian where it is asked for.
func (l *logLoss) evaluate(f form, x []float64, curvature bool) *lossState {
	k, n := l.classes, f.parameters(l.classes)
	s, b := f.split(x, k)
	curvature = curvature && !l.many()
	groups := make([]*lossSums, l.logits.Groups())
	l.logits.EachGroup(16*k+n*n/2, func(group, first, last int) {
		groups[group] = l.evaluateGroup(f, s, b, first, last, curvature)
	})
	sums := groups[0]
	for _, other := range groups[1:] {
		sums.add(other)
	}
	state := &lossState{x: x, loss: sums.loss, gradient: f.gradient(sums.moments), hessian: sums.products, separated: sums.separated}
	f.subtractLabels(state.gradient, l.labelled)
	rows := float64(len(l.labels))
	state.loss /= rows
	floats.Scale(1/rows, state.gradient)
	if curvature {
		state.hessian.ScaleSym(-1, state.hessian)
		f.addSquares(state.hessian, sums.moments)
		state.hessian.ScaleSym(1/rows, state.hessian)
	}
	f.addTo(state, b, l.penalty(), curvature)
	return state
}

// many tells whether equations are solved by products with the Hessian instead of the Hessian.
func (l *logLoss) many() bool { return l.classes > weightest.MostDense }

// solve returns what the inverse of the Hessian at s makes of b, up to a share of b, by differences of gradients.
func (l *logLoss) solve(f form, s *lossState, b []float64, free []int, share float64) []float64 {
	const most, nearby = 200, 1e-4
	near, scales, rows := make([]float64, len(free)), f.scales(l.classes), float64(len(l.labels))
	for i, j := range free {
		if near[i] = 1 / max(1, l.spread*l.spread); j >= scales { // of a bias, as the class's share is
			near[i] = rows / (1 + l.counts[j-scales])
		}
	}
	x, _ := conjugate.Solve(b, near, share, most, func(into, along []float64) error {
		length := nearby / floats.Norm(along, math.Inf(1))
		clear(into)
		for _, side := range []float64{-length, length} {
			point := slices.Clone(s.x)
			for i, j := range free {
				point[j] += side * along[i]
			}
			floats.AddScaled(into, 0.5/side, evenly.Pick(l.evaluate(f, point, false).gradient, free))
		}
		return nil
	}) // without an error
	return x
}

// penalty is what is added to the mean loss of so many rows; see logLoss and shrink.
type penalty struct {
	rows      float64
	direction []float64 // see priorDirection
	centre    []float64 // what is drawn from the parameters of a shrunk form; nil is 0
}

func (l *logLoss) penalty() penalty {
	return penalty{rows: float64(len(l.labels)), direction: l.prior}
}

// addTo adds the penalties to a state with biases b.
func (f form) addTo(state *lossState, b []float64, p penalty, curvature bool) {
	k, n := len(b), len(state.x)
	if f.biases {
		first := f.scales(k)
		total := floats.Sum(b)
		state.loss += total * total / 2 / float64(k)
		for i := first; i < n; i++ {
			state.gradient[i] += total / float64(k)
			for j := i; curvature && j < n; j++ {
				add(state.hessian, i, j, 1/float64(k))
			}
		}
	}
	if f.shrunk {
		p.shrink(state, b, f.free, curvature)
	}
}

// biasDeviation is the standard deviation τ of the biases of bcts-ridge beside what class
// shares explain of them; research/comparisons/calibration.md has the comparison.
const biasDeviation = 0.3

// scaleDeviation is the standard deviation σ of its scale around 1.
const scaleDeviation = 0.25

// ofScale returns 1/σ²n.
func (p penalty) ofScale() float64 { return 1 / (scaleDeviation * scaleDeviation * p.rows) }

// shrink adds the penalty (s-1)²/2σ²n + ‖Mb‖²/2τ²n: M takes away the mean of the biases and
// their part along the logarithms of the classes' shares. A scale that is free has none.
func (p penalty) shrink(state *lossState, b []float64, free, curvature bool) {
	k, first := len(b), len(state.x)-len(b)
	factor := 1 / (biasDeviation * biasDeviation * p.rows)
	var scaleFactor float64
	if !free {
		scaleFactor = p.ofScale()
	}
	offset, rest := state.x[0]-1, slices.Clone(b)
	if p.centre != nil {
		offset -= p.centre[0]
		floats.Sub(rest, p.centre[first:])
	}
	state.loss += scaleFactor / 2 * offset * offset
	state.gradient[0] += scaleFactor * offset
	if curvature {
		add(state.hessian, 0, 0, scaleFactor)
	}
	along := floats.Dot(rest, p.direction)
	floats.AddConst(-floats.Sum(rest)/float64(k), rest)
	floats.AddScaled(rest, -along, p.direction)
	state.loss += factor / 2 * floats.Dot(rest, rest)
	floats.AddScaled(state.gradient[first:], factor, rest)
	if !curvature {
		return
	}
	for i := range k {
		add(state.hessian, first+i, first+i, factor)
		for j := i; j < k; j++ {
			add(state.hessian, first+i, first+j, -factor*(1/float64(k)+p.direction[i]*p.direction[j]))
		}
	}
}

// priorDirection returns the logarithms of the classes' shares less their mean, of length 1;
// 0 where all classes have as many rows. Half a row is added to each.
func priorDirection(counts []float64) []float64 {
	direction := convert.Each(counts, func(rows float64) float64 { return math.Log(rows + 0.5) })
	floats.AddConst(-floats.Sum(direction)/float64(len(direction)), direction)
	length := floats.Norm(direction, 2)
	if length < 1e-9 {
		return make([]float64, len(counts))
	}
	floats.Scale(1/length, direction)
	return direction
}

// evaluateGroup returns the sums over the rows of some panels.
func (l *logLoss) evaluateGroup(f form, s, b []float64, first, last int, curvature bool) *lossSums {
	sums := &lossSums{moments: make([]simd.Moments, l.classes), separated: true}
	if curvature {
		sums.products = mat.NewSymDense(f.parameters(l.classes), nil)
	}
	panel := l.scratch.Get().(*lossPanel)
	defer l.scratch.Put(panel)
	for i := first; i < last; i++ {
		start, height := l.logits.Extent(i)
		panel.exponentials(l, i, s, b)
		sums.loss += simd.SumLogs(panel.sum, nil)
		labels, own := l.labels[start:start+height], l.own[start:start+height]
		for row, label := range labels {
			sums.loss += panel.bound[row] - s[label]*own[row] - b[label]
		}
		sums.separated = sums.separated && panel.separated(labels)
		panel.normalise(sums.moments, nil)
		if curvature {
			panels.AddGram(sums.products, panel.derivatives(f))
		}
	}
	return sums
}

// gradient returns Σ c_a.
func (f form) gradient(moments []simd.Moments) []float64 {
	first := f.scales(len(moments))
	gradient := make([]float64, f.parameters(len(moments)))
	for j, m := range moments {
		gradient[min(j, first-1)] += m.First
		if f.biases {
			gradient[first+j] = m.Sum
		}
	}
	return gradient
}

// addSquares adds Σ p_j φ_a[j] φ_b[j] to the Hessian.
func (f form) addSquares(hessian *mat.SymDense, moments []simd.Moments) {
	first := f.scales(len(moments))
	for j, m := range moments {
		scale := min(j, first-1)
		add(hessian, scale, scale, m.Second)
		if f.biases {
			add(hessian, scale, first+j, m.First)
			add(hessian, first+j, first+j, m.Sum)
		}
	}
}

// subtractLabels subtracts φ_a[y] of every row from the gradient.
func (f form) subtractLabels(gradient []float64, l labelled) {
	if f.vector {
		floats.Sub(gradient[:len(l.sums)], l.sums)
	} else {
		gradient[0] -= floats.Sum(l.sums)
	}
	if f.biases {
		floats.Sub(gradient[f.scales(len(l.counts)):], l.counts)
	}
}

func add(m *mat.SymDense, i, j int, value float64) { m.SetSym(i, j, m.At(i, j)+value) }
