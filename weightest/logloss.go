package weightest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

const (
	// gradientLimit is the largest projected gradient of a fit.
	gradientLimit = 1e-10
	// roughGradient is the gradient to which gonum's method goes, polished the one at
	// which the steps beyond that end, and polishing their largest number.
	roughGradient = 1e-4
	polished      = 1e-15
	polishing     = 30
	// thinnedGradient ends the fit to thinned rows, whose optimum is another one.
	thinnedGradient = 1e-3
	// flattest is the smallest eigenvalue of a log-loss's Hessian at which parameters
	// count as told by the rows: with separated rows it falls to 0 as they grow.
	flattest = 1e-8
)

// noOptimum is the error of a fit whose loss has no minimum that the rows tell.
type noOptimum struct{ because string }

func (e *noOptimum) Error() string { return "weightest: no optimal calibration, as " + e.because }

// logLoss is the mean over rows of -log softmax(s∘z + b)_y. Its parameters x are those
// of a form: one s or k, then k biases or none. With p the probabilities of a row and
// φ_a (k) the derivative of s∘z + b by x_a, which is z, z_j e_j or e_j,
//
//	gradient_a = mean of c_a - φ_a[y],   c_a = p·φ_a,
//	Hessian_ab = mean of Σ_j p_j φ_a[j] φ_b[j] - c_a c_b.
//
// (Σ b)²/2k is added, which is 0 at the optimum and makes b unique.
type logLoss struct {
	classes int
	logits  *panels
	labels  []int
	spread  float64 // root mean square of the logits less their row means
}

func newLogLoss(logits []float64, labels []int, k int) *logLoss {
	l := &logLoss{classes: k, logits: newPanels(logits, k, upTo(len(labels)), upTo(k)), labels: labels}
	var square float64
	for first := 0; first < len(logits); first += k {
		row := logits[first : first+k]
		mean := floats.Sum(row) / float64(k)
		for _, z := range row {
			square += (z - mean) * (z - mean) / float64(len(logits))
		}
	}
	l.spread = math.Sqrt(square)
	return l
}

// thinned returns the loss of some of the rows.
func (l *logLoss) thinned(step int) *logLoss {
	few := &logLoss{classes: l.classes, logits: l.logits.thinned(step), spread: l.spread}
	for i := 0; i < len(l.labels); i += step {
		few.labels = append(few.labels, l.labels[i])
	}
	return few
}

// lossState is the loss with its derivatives at x.
type lossState struct {
	x         []float64
	loss      float64
	gradient  []float64
	hessian   *mat.SymDense
	separated bool // every label has the largest entry of its row of s∘z + b
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

// evaluate returns the state at x, with the Hessian where it is asked for.
func (l *logLoss) evaluate(f form, x []float64, curvature bool) *lossState {
	k, n := l.classes, f.parameters(l.classes)
	s, b := f.split(x, k)
	states := make([]*lossState, l.logits.groups())
	l.logits.eachGroup(16*k+n*n/2, func(group, first, last int) {
		states[group] = l.evaluateGroup(f, s, b, first, last, curvature)
	})
	state := states[0]
	for _, other := range states[1:] {
		state.loss += other.loss
		state.separated = state.separated && other.separated
		floats.Add(state.gradient, other.gradient)
		addSymmetric(state.hessian, other.hessian)
	}
	state.x = x
	rows := float64(len(l.labels))
	state.loss /= rows
	floats.Scale(1/rows, state.gradient)
	state.hessian.ScaleSym(1/rows, state.hessian)
	if f.biases {
		first := f.scales(k)
		total := floats.Sum(b)
		state.loss += total * total / 2 / float64(k)
		for i := first; i < n; i++ {
			state.gradient[i] += total / float64(k)
			for j := i; j < n; j++ {
				state.hessian.SetSym(i, j, state.hessian.At(i, j)+1/float64(k))
			}
		}
	}
	return state
}

// evaluateGroup returns the sums over the rows of some panels.
func (l *logLoss) evaluateGroup(f form, s, b []float64, first, last int, curvature bool) *lossState {
	k, n := l.classes, f.parameters(l.classes)
	state := &lossState{gradient: make([]float64, n), hessian: mat.NewSymDense(n, nil), separated: true}
	products := mat.NewSymDense(n, nil)
	panel := newLossPanel(k)
	for i := first; i < last; i++ {
		start, height := l.logits.extent(i)
		panel.softmax(l.logits, i, s, b)
		for row, label := range l.labels[start : start+height] {
			state.loss += panel.logSum[row] - panel.score(row, label, s, b)
			state.separated = state.separated && panel.separated(row, label)
			f.addLabel(state.gradient, label, panel.logits[label][row], k)
		}
		columns := panel.derivatives(f, state)
		if curvature {
			addGram(products, columns, columns)
		}
	}
	products.ScaleSym(-1, products)
	addSymmetric(state.hessian, products)
	return state
}

// addLabel subtracts φ_a[y] from the gradient.
func (f form) addLabel(gradient []float64, label int, logit float64, k int) {
	if f.vector {
		gradient[label] -= logit
	} else {
		gradient[0] -= logit
	}
	if f.biases {
		gradient[f.scales(k)+label]--
	}
}

// lossPanel is one panel of logits with what follows from them.
type lossPanel struct {
	storage       []float64
	logits        [][]float64 // columns of z
	probabilities [][]float64 // columns of p
	scaled        [][]float64 // columns of p∘z
	mean          []float64   // p·z
	largest       []float64   // of s∘z + b in each row
	logSum        []float64   // log Σ exp(s∘z + b)
}

func newLossPanel(k int) *lossPanel {
	return &lossPanel{
		storage: make([]float64, (2*k+3)*panelRows),
		logits:  make([][]float64, k), probabilities: make([][]float64, k), scaled: make([][]float64, k),
	}
}

// softmax sets the columns of the i-th panel, p∘z excepted.
func (p *lossPanel) softmax(logits *panels, i int, s, b []float64) {
	_, height := logits.extent(i)
	k := len(s)
	vector := func(n int) []float64 { return p.storage[n*panelRows : n*panelRows+height] }
	p.mean, p.largest, p.logSum = vector(2*k), vector(2*k+1), vector(2*k+2)
	for j := range k {
		p.logits[j], p.probabilities[j], p.scaled[j] = logits.column(i, j), vector(j), vector(k+j)
		for row, z := range p.logits[j] {
			t := s[j]*z + b[j]
			p.probabilities[j][row] = t
			if j == 0 || t > p.largest[row] {
				p.largest[row] = t
			}
		}
	}
	clear(p.logSum)
	for _, column := range p.probabilities {
		for row, t := range column {
			e := math.Exp(t - p.largest[row])
			column[row] = e
			p.logSum[row] += e
		}
	}
	for _, column := range p.probabilities {
		floats.Div(column, p.logSum)
	}
	for row, sum := range p.logSum {
		p.logSum[row] = p.largest[row] + math.Log(sum)
	}
}

// score returns s∘z + b of the label.
func (p *lossPanel) score(row, label int, s, b []float64) float64 {
	return s[label]*p.logits[label][row] + b[label]
}

// separated tells whether the label's probability is above every other.
func (p *lossPanel) separated(row, label int) bool {
	for j, column := range p.probabilities {
		if j != label && column[row] >= p.probabilities[label][row] {
			return false
		}
	}
	return true
}

// derivatives adds Σ c_a to the gradient and Σ p_j φ_a[j] φ_b[j] to the Hessian, and
// returns the columns c_a.
func (p *lossPanel) derivatives(f form, state *lossState) [][]float64 {
	k := len(p.logits)
	first := f.scales(k)
	var columns [][]float64
	clear(p.mean)
	for j, column := range p.probabilities {
		floats.MulTo(p.scaled[j], column, p.logits[j])
		floats.Add(p.mean, p.scaled[j])
		sum, square := floats.Sum(p.scaled[j]), floats.Dot(p.scaled[j], p.logits[j])
		scale := min(j, first-1)
		state.gradient[scale] += sum
		add(state.hessian, scale, scale, square)
		if f.biases {
			total := floats.Sum(column)
			state.gradient[first+j] += total
			add(state.hessian, scale, first+j, sum)
			add(state.hessian, first+j, first+j, total)
		}
	}
	if f.vector {
		columns = append(columns, p.scaled...)
	} else {
		columns = append(columns, p.mean)
	}
	if f.biases {
		columns = append(columns, p.probabilities...)
	}
	return columns
}

func add(m *mat.SymDense, i, j int, value float64) { m.SetSym(i, j, m.At(i, j)+value) }

// fit returns the optimum of a form. The bounds s ≥ 0 are handled by an active-set
// method: the minimum without those that are not active, a step towards it until
// another one is in the way, and at the minimum the one given up that holds the loss up
// most.
func (l *logLoss) fit(f form) (Calibration, error) {
	k := l.classes
	if f.name == forms[0].name || k == 1 {
		return l.identity(), nil
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
		if best.separated {
			return Calibration{}, &noOptimum{"it separates the rows, and larger scales would separate them more"}
		}
		if most := floats.MinIdx(best.gradient[:n]); fixed[most] && best.gradient[most] < -gradientLimit {
			fixed[most] = false
			continue
		}
		return l.calibration(f, best, fixed)
	}
	return Calibration{}, fmt.Errorf("%w of the calibration %s", ErrNoConvergence, f.name)
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
	if missingClass(few.labels, l.classes) >= 0 {
		return
	}
	rough, err := few.descend(f, x, freeIndices(make([]bool, len(x))), thinnedGradient)
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

// identity is the calibration that leaves the logits as they are.
func (l *logLoss) identity() Calibration {
	c := Calibration{Form: forms[0].name, Scales: make([]float64, l.classes), Biases: make([]float64, l.classes)}
	for j := range c.Scales {
		c.Scales[j] = 1
	}
	c.LogLoss = l.evaluate(form{}, []float64{1}, false).loss
	return c
}

// calibration checks an optimum and returns it.
func (l *logLoss) calibration(f form, s *lossState, fixed []bool) (Calibration, error) {
	if !f.vector && fixed[0] {
		return Calibration{}, &noOptimum{"the rows' logits do not tell their labels"}
	}
	free := freeIndices(fixed)
	var eigen mat.EigenSym
	if !eigen.Factorize(subMatrix(s.hessian, free), false) {
		return Calibration{}, fmt.Errorf("%w of the eigenvalues of the calibration %s", ErrNoConvergence, f.name)
	}
	if smallest := eigen.Values(nil)[0]; !(smallest >= flattest) {
		return Calibration{}, &noOptimum{fmt.Sprintf("the rows do not tell its parameters (the smallest eigenvalue of the Hessian is %.2g)", smallest)}
	}
	c := Calibration{Form: f.name, LogLoss: s.loss}
	c.Scales, c.Biases = f.split(s.x, l.classes)
	floats.AddConst(-floats.Sum(c.Biases)/float64(l.classes), c.Biases)
	for j, g := range s.gradient {
		if fixed[j] {
			g = min(0, g)
		}
		c.Gradient = max(c.Gradient, math.Abs(g))
	}
	if !(c.Gradient <= gradientLimit) {
		return Calibration{}, fmt.Errorf("%w of the calibration %s: its gradient is %.3g", ErrNoConvergence, f.name, c.Gradient)
	}
	return c, nil
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

func subMatrix(m *mat.SymDense, indices []int) *mat.SymDense {
	sub := mat.NewSymDense(max(1, len(indices)), nil)
	for a, i := range indices {
		for b, j := range indices[:a+1] {
			sub.SetSym(a, b, m.At(i, j))
		}
	}
	return sub
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
		if floats.Norm(picked(best.gradient, free), 2) < gradientLimit {
			break
		}
		x = best.x
	}
	return best, nil
}

// polish takes steps with one Hessian as long as they shorten the gradient.
func (l *logLoss) polish(f form, best *lossState, free []int) *lossState {
	var cholesky mat.Cholesky
	if !cholesky.Factorize(subMatrix(best.hessian, free)) {
		return best
	}
	for range polishing {
		gradient := picked(best.gradient, free)
		norm := floats.Norm(gradient, 2)
		if norm < polished {
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
		if !(floats.Norm(picked(next.gradient, free), 2) < norm/2) {
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
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(y []float64) float64 { return at(y).loss },
		Grad: func(gradient, y []float64) { copy(gradient, picked(at(y).gradient, free)) },
		Hess: func(hessian *mat.SymDense, y []float64) { hessian.CopySym(subMatrix(at(y).hessian, free)) },
	}, picked(x, free), &optimize.Settings{
		GradientThreshold: tolerance,
		MajorIterations:   200,
		Converger:         optimize.NeverTerminate{},
	}, &optimize.Newton{})
	if result == nil {
		return nil, fmt.Errorf("%w of the calibration %s: %w", ErrNoConvergence, f.name, err)
	}
	return at(result.X), nil
}

func picked(values []float64, indices []int) []float64 {
	some := make([]float64, len(indices))
	for i, j := range indices {
		some[i] = values[j]
	}
	return some
}
